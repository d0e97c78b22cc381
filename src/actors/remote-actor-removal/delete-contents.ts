// Deletes the content of a removed remote actor item by item, with the commands that its server would use, so that counts stay right and
// everybody is notified. Replies of others to its comments stay, and so do reports, and blocks of its account.

import type { Database, Sql } from '../../platform/database/index.ts'
import { removeWaitingCommentsOf } from '../comment/comment.writes.ts'
import type { Comments } from '../comment/index.ts'
import { dropFollow } from '../follow/index.ts'
import type { RemotePlaylists } from '../playlist/index.ts'
import type { Ratings } from '../rating/index.ts'
import { removeCopiesOf } from '../redundancy/redundancy.writes.ts'
import { eachRow, ignoreNotFound, inBatches, type Tell } from '../runtime/index.ts'
import type { Shares } from '../share/index.ts'
import type { RemoteVideos } from '../video/index.ts'

/** A removed remote actor whose rows still exist. */
export interface DepartingActor {
  actorId: number
  accountId: number | null
  channelId: number | null
}

/** The commands of the nouns that a remote actor may have. */
export interface Removers {
  videos: Pick<RemoteVideos, 'remove'>
  playlists: Pick<RemotePlaylists, 'remove' | 'leaveChannel'>
  comments: Pick<Comments, 'removeAuthor'>
  ratings: Pick<Ratings, 'removeReceivedRating'>
  shares: Pick<Shares, 'removeShare'>
}

/** Undefined unless the actor is removed and has content left. */
export async function departingActorOf(query: Sql, actorId: number): Promise<DepartingActor | undefined> {
  const [leaver] = await query<DepartingActor>(
    `select x.id as "actorId", a.id as "accountId", c.id as "channelId"
     from actor x left join account a on a.actor_id = x.id left join channel c on c.actor_id = x.id
     where x.id = $1 and x.remote_state = 'leaving'`,
    [actorId],
  )
  return leaver
}

/** The content of each kind, by its owner. */
const channelsOf = (account: string) => `from channel o where o.account_id = ${account}`
const videosOf = (channel: string) => `from video o where o.channel_id = ${channel}`
const playlistsIn = (channel: string) => `from playlist o where o.channel_id = ${channel}`
const playlistsOf = (account: string) => `from playlist o where o.account_id = ${account}`
const commentsOf = (account: string) => `from comment o where o.account_id = ${account}`
const ratingsOf = (account: string) => `from rating o where o.account_id = ${account}`
const sharesOf = (actor: string) => `from share o where o.actor_id = ${actor}`
const followersOf = (actor: string) => `from follow o where o.target_id = ${actor}`
const followingsOf = (actor: string) => `from follow o where o.follower_id = ${actor}`
/** These are neither counted nor announced. */
const quiet = ['redundancy', 'waiting_comment'] as const

/** Deletes everything. Each item is deleted when its command ends. Throws when `signal` aborts. */
export async function deleteContents(
  { db, tell, removers }: { db: Pick<Database, 'query'>; tell: Tell; removers: Removers },
  { actorId, accountId, channelId }: DepartingActor,
  removeActor: (actorId: number) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const each = <R extends object>(from: string, of: number, columns: string, remove: (row: R) => Promise<void>) =>
    eachRow<R & { id: number }>({ db, signal, from, values: [of], columns }, (row) => ignoreNotFound(remove(row)))

  if (channelId !== null) {
    await each<{ id: number }>(videosOf('$1'), channelId, '', ({ id }) => removers.videos.remove(id))
    await each<{ id: number }>(playlistsIn('$1'), channelId, '', ({ id }) => removers.playlists.leaveChannel(id))
  }
  if (accountId !== null) {
    await each<{ actorId: number }>(channelsOf('$1'), accountId, 'o.actor_id as "actorId"', (channel) => removeActor(channel.actorId))
    await each<{ id: number }>(playlistsOf('$1'), accountId, '', ({ id }) => removers.playlists.remove(id, { accountId }))
    await each<{ id: number }>(commentsOf('$1'), accountId, '', ({ id }) => removers.comments.removeAuthor(id))
    await each<{ videoId: number }>(ratingsOf('$1'), accountId, 'o.video_id as "videoId"', ({ videoId }) =>
      removers.ratings.removeReceivedRating({ videoId, accountId }),
    )
  }
  await each<{ videoId: number }>(sharesOf('$1'), actorId, 'o.video_id as "videoId"', ({ videoId }) =>
    removers.shares.removeShare({ videoId, actorId }),
  )
  for (const follows of [followersOf, followingsOf]) {
    await each<{ id: number }>(follows('$1'), actorId, '', ({ id }) => tell.create((unit) => dropFollow(unit, id)))
  }
  for (const removeQuiet of [removeCopiesOf, removeWaitingCommentsOf]) {
    await inBatches(signal, (limit) => removeQuiet(db.query, actorId, limit))
  }
}

/** One statement. */
export async function hasContents(query: Sql, { actorId, accountId, channelId }: DepartingActor): Promise<boolean> {
  const left = [
    ...[videosOf, playlistsIn].map((of) => of('$2')),
    ...[channelsOf, playlistsOf, commentsOf, ratingsOf].map((of) => of('$3')),
    ...[sharesOf, followersOf, followingsOf].map((of) => of('$1')),
    ...quiet.map((table) => `from ${table} o where o.actor_id = $1`),
  ].map((from) => `exists (select 1 ${from})`)
  const [answer] = await query<{ left: boolean }>(`select ${left.join(' or ')} as "left"`, [actorId, channelId, accountId])
  return answer?.left ?? false
}
