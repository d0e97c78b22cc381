// Ends follows after a block: the instance's block drops waiting deliveries, removes followers and withdraws outgoing follows; a user's
// block rejects the followers of the user's account and channels.

import type { Database } from '../../platform/database/index.ts'
import { dropDeliveriesToBlocked } from '../delivery/delivery.writes.ts'
import { type ActorDeps, ignoreNotFound } from '../runtime/index.ts'

/** The commands of follows that end them. */
export interface FollowEnds {
  withdraw(followId: number): Promise<void>
  removeFollower(followId: number): Promise<void>
  rejectMuted(followId: number): Promise<void>
}

interface EndingFollow {
  id: number
  /** True for an incoming follow, false for an outgoing one. */
  isByBlocked: boolean
  /** True for a block by a user, false for one by the instance. */
  isOwned: boolean
}

const BATCH = 100

export function endBlockedFollows(deps: ActorDeps & { follows: FollowEnds }): void {
  const { db, registry, follows } = deps

  for (const [event, table] of [
    ['AccountBlocked', 'account_block'],
    ['ServerBlocked', 'server_block'],
  ] as const) {
    registry.on(event, 'follows', async ({ blockId }, unit) =>
      unit.enqueue({ type: 'blocked-follows', data: { [table]: blockId }, dedupeKey: `${table}-${blockId}` }),
    )
  }

  registry.on('ServerBlocked', 'deliveries', async ({ blockId }, unit) => {
    await dropDeliveriesToBlocked(unit.query, blockId)
  })

  registry.job('blocked-follows', {
    queue: 'io',
    async run({ data, signal }) {
      const block = data.account_block === undefined ? ofServer : ofAccount
      const blockId = data.account_block ?? data.server_block
      for (let last = 0; ; ) {
        const found = await nextFollows(db, block, blockId, last)
        if (found.length === 0) return
        for (const follow of found) {
          signal.throwIfAborted()
          await ignoreNotFound(end(follow))
          last = follow.id
        }
      }
    },
  })

  async function end({ id, isByBlocked, isOwned }: EndingFollow): Promise<void> {
    if (isOwned) return await follows.rejectMuted(id)
    if (isByBlocked) return await follows.removeFollower(id)
    return await follows.withdraw(id)
  }
}

interface BlockSql {
  table: string
  /** SQL: true if a remote actor `x` is blocked by `b`. */
  fits: string
}

const ofAccount: BlockSql = {
  table: 'account_block',
  fits: `x.host_id is not null and (x.id = (select actor_id from account where id = b.target_id)
    or x.id in (select actor_id from channel where account_id = b.target_id))`,
}
const ofServer: BlockSql = {
  table: 'server_block',
  fits: 'x.host_id = (select id from remote_host where host = b.host)',
}

/** Follows between the blocked and those whom the block protects; none if the block was removed. */
const nextFollows = (db: Pick<Database, 'query'>, { table, fits }: BlockSql, blockId: unknown, after: number) =>
  db.query<EndingFollow>(
    `with b as (select * from ${table} where id = $1), blocked as (select x.id from b join actor x on ${fits})
     select f.id, f.by_blocked as "isByBlocked", b.owner_id is not null as "isOwned"
     from b cross join lateral (
       select f.id, f.target_id as local_id, true as by_blocked, f.state from blocked join follow f on f.follower_id = blocked.id
       union all
       select f.id, f.follower_id, false, f.state from blocked join follow f on f.target_id = blocked.id
     ) f join actor own on own.id = f.local_id and own.host_id is null
     where f.id > $2 and f.state in ('pending', 'accepted') and (b.owner_id is null or f.by_blocked and (
       own.id = (select actor_id from account where id = b.owner_id)
       or own.id in (select actor_id from channel where account_id = b.owner_id)))
     order by f.id limit ${BATCH}`,
    [blockId, after],
  )
