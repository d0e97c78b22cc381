// Deletes the content of a removed channel item by item, with the commands that its owner would use, so that everybody is notified.
// Playlists stay with their owner, but private, as they have no channel any more.

import type { Database, Sql } from '../../platform/database/index.ts'
import { storeKnownServers } from '../actor/actor.writes.ts'
import type { Follows } from '../follow/index.ts'
import { type Playlists, playlistPrivacies } from '../playlist/index.ts'
import { eachRow, ignoreNotFound } from '../runtime/index.ts'
import { userRoles } from '../user/index.ts'
import type { RemoveVideo } from '../video/index.ts'

/** A removed channel whose row still exists. */
export interface RemovedChannel {
  channelId: number
  actorId: number
  url: string
  accountId: number
  accountActorId: number
}

/** The commands of the nouns in a channel. */
export interface Removers {
  videos: RemoveVideo
  playlists: Pick<Playlists, 'update'>
  follows: Pick<Follows, 'withdraw'>
}

/** Undefined unless the channel is removed and not yet empty. */
export async function removedChannel(query: Sql, channelId: number): Promise<RemovedChannel | undefined> {
  const [channel] = await query<RemovedChannel>(
    `select c.id as "channelId", x.id as "actorId", x.url, a.id as "accountId", a.actor_id as "accountActorId"
     from channel c join actor x on x.id = c.actor_id join account a on a.id = c.account_id
     where c.id = $1 and c.state = 'removed'`,
    [channelId],
  )
  return channel
}

/** Stores the servers that know the channel from videos that they shared, commented on or rated. */
export const rememberKnownServers = (query: Sql, { channelId, actorId }: RemovedChannel): Promise<void> =>
  storeKnownServers(
    query,
    actorId,
    `select s.actor_id as id from video v join share s on s.video_id = v.id where v.channel_id = $2
     union select a.actor_id from video v join comment m on m.video_id = v.id join account a on a.id = m.account_id
       where v.channel_id = $2
     union select a.actor_id from video v join rating r on r.video_id = v.id join account a on a.id = r.account_id
       where v.channel_id = $2`,
    [channelId],
  )

const videosOf = (channel: string) => `from video o where o.channel_id = ${channel}`
const playlistsOf = (channel: string) => `from playlist o where o.channel_id = ${channel} and not o.remote`
const followingsOf = (actor: string) => `from follow o where o.follower_id = ${actor} and o.state <> 'none'`

/** Deletes everything; the videos' files follow by their own jobs. Throws when `signal` aborts. */
export async function deleteContents(
  db: Pick<Database, 'query'>,
  removers: Removers,
  { channelId, actorId, accountId }: RemovedChannel,
  signal: AbortSignal,
): Promise<void> {
  const by = { accountId, role: userRoles.user }
  const walk = { db, signal }
  await eachRow<{ id: number; state: string }>(
    { ...walk, from: videosOf('$1'), values: [channelId], columns: 'o.state' },
    async ({ id, state }) => {
      if (state !== 'removed') await ignoreNotFound(removers.videos.remove(id, by))
    },
  )
  await eachRow({ ...walk, from: playlistsOf('$1'), values: [channelId] }, ({ id }) =>
    ignoreNotFound(removers.playlists.update(id, by, { channelId: null, privacy: playlistPrivacies.private })),
  )
  await eachRow({ ...walk, from: followingsOf('$1'), values: [actorId] }, ({ id }) => ignoreNotFound(removers.follows.withdraw(id)))
}

/** True if content is left, or notifications about it are pending. One statement. */
export async function hasContents(query: Sql, { channelId, actorId }: RemovedChannel): Promise<boolean> {
  const [answer] = await query<{ left: boolean }>(
    `select exists (select 1 ${videosOf('$1')}) or exists (select 1 ${playlistsOf('$1')})
       or exists (select 1 ${followingsOf('$2')})
       or exists (select 1 from outbox where parked_at is null and $2 in ((payload->>'actorId')::int,
         (payload->>'channelActorId')::int, (payload->>'followerId')::int, (payload->>'targetId')::int)) as "left"`,
    [channelId, actorId],
  )
  return answer?.left ?? false
}
