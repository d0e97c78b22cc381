// Subscriptions: follows of channels by a user's account, with the machine of all follows. A job looks up remote channels that are not
// stored yet.

import { recountFollows } from '../actor/index.ts'
import { type ChannelHandle, findChannelByHandle } from '../channel/index.ts'
import { cancelPendingRequest, type Follows, findFollow } from '../follow/index.ts'
import { type ActorDeps, ignoreNotFound, notFound } from '../runtime/index.ts'

export type Subscriptions = ReturnType<typeof makeSubscriptions>

export function makeSubscriptions(deps: ActorDeps & { follows: Follows }) {
  const { db, tell, follows } = deps

  /** Row of the actor of an account. */
  async function actorOf(accountId: number): Promise<number> {
    const [row] = await db.query<{ actor_id: number }>('select actor_id from account where id = $1', [accountId])
    if (!row) throw notFound('Account not found')
    return row.actor_id
  }

  return {
    actorOf,

    /** Follows the channel, at once or when it is found. Does nothing if it does not exist. */
    async subscribe(accountId: number, { name, host }: ChannelHandle): Promise<void> {
      const followerId = await actorOf(accountId)
      const channel = await findChannelByHandle(db, { name, host })
      if (channel) {
        await follows.request({ followerId, targetId: channel.actorId })
        return
      }
      if (host === null) return
      const handle = `${name}@${host}`
      await tell.create(async (unit) =>
        unit.enqueue({
          type: 'activitypub-follow',
          data: { handle, followerId },
          dedupeKey: `subscribe-${followerId}-${handle.toLowerCase()}`,
        }),
      )
    },

    /** Returns false if there was no subscription. */
    async unsubscribe(accountId: number, handle: ChannelHandle): Promise<boolean> {
      const followerId = await actorOf(accountId)
      const { name, host } = handle
      const wasAsked = await cancelPendingRequest(db.query, { followerId, hostOrHandle: `${name}@${host}` })
      const channel = await findChannelByHandle(db, handle)
      const follow = channel && (await findFollow(db, { followerId, targetId: channel.actorId }))
      if (!follow || follow.state === 'none') return wasAsked
      await ignoreNotFound(follows.withdraw(follow.id))
      return true
    },

    /** Makes the channel's count of followers true at once, for its page after a subscription. It is also recounted after each follow. */
    async recount(handle: ChannelHandle): Promise<void> {
      const channel = await findChannelByHandle(db, handle)
      if (channel) await tell.create((unit) => recountFollows(unit, channel.actorId))
    },

    /** For each channel, whether the account follows it, or requested to. */
    async exist(accountId: number, channels: ChannelHandle[]): Promise<boolean[]> {
      const rows = await db.query<{ found: boolean }>(
        `select exists (
           select 1 from actor x join channel c on c.actor_id = x.id left join remote_host h on h.id = x.host_id
             join follow f on f.target_id = x.id and f.follower_id = $1 and f.state in ('pending', 'accepted')
           where lower(x.preferred_username) = wanted.name and h.host is not distinct from wanted.host
             and x.deleted_at is null) as found
         from unnest((select $2::text[]), (select $3::text[])) with ordinality as wanted(name, host, place) order by wanted.place`,
        [await actorOf(accountId), channels.map(({ name }) => name.toLowerCase()), channels.map(({ host }) => host)],
      )
      return rows.map(({ found }) => found)
    },
  }
}
