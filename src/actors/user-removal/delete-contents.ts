// Deletes what a user owns item by item, with the commands that the user would use, so that everybody is notified. Each item is deleted
// when its command ends, so that an interrupted walk continues where it was.

import type { Database, Sql } from '../../platform/database/index.ts'
import { storeKnownServers } from '../actor/actor.writes.ts'
import { disownRemovedComments, dropRetainedCommentsOf } from '../comment/comment.writes.ts'
import type { Comments } from '../comment/index.ts'
import type { Follows } from '../follow/index.ts'
import { type Playlists, playlistTypes } from '../playlist/index.ts'
import type { Ratings } from '../rating/index.ts'
import { dropRetainedRatingsOf } from '../rating/rating.writes.ts'
import { eachRow, ignoreNotFound, inBatches } from '../runtime/index.ts'
import type { Uploads } from '../upload/index.ts'
import { userRoles } from '../user/index.ts'
import type { UserImports } from '../user-import/index.ts'
import type { RemoveVideo } from '../video/index.ts'

/** A removed user whose rows still exist. */
export interface Owner {
  userId: number
  accountId: number
  accountActorId: number
  accountUrl: string
  channels: { id: number; actorId: number; url: string }[]
}

/** The commands of the nouns that belong to a user. */
export interface Removers {
  uploads: Pick<Uploads, 'cancel'>
  userImports: Pick<UserImports, 'cancelAll'>
  videos: RemoveVideo
  comments: Pick<Comments, 'remove'>
  playlists: Pick<Playlists, 'remove'>
  ratings: Pick<Ratings, 'setRating'>
  follows: Pick<Follows, 'withdraw'>
}

/** The user with account and channels; undefined unless it is removed and has something left. */
export async function ownerOf(query: Sql, userId: number): Promise<Owner | undefined> {
  const [owner] = await query<Owner>(
    `select u.id as "userId", a.id as "accountId", x.id as "accountActorId", x.url as "accountUrl",
       (select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'actorId', y.id, 'url', y.url) order by c.id), '[]')
        from channel c join actor y on y.id = c.actor_id where c.account_id = a.id) as channels
     from users u join account a on a.user_id = u.id join actor x on x.id = a.actor_id
     where u.id = $1 and u.state = 'deleted'`,
    [userId],
  )
  return owner
}

export const actorsOf = (owner: Owner): number[] => [owner.accountActorId, ...owner.channels.map((channel) => channel.actorId)]

/** Stores the servers that know the account from what it followed, commented on or rated. */
export const rememberKnownServers = (query: Sql, owner: Owner): Promise<void> =>
  storeKnownServers(
    query,
    owner.accountActorId,
    `select target_id as id from follow where follower_id = any($2)
     union select c.actor_id from comment m join video v on v.id = m.video_id join channel c on c.id = v.channel_id
       where m.account_id = $3 and v.remote
     union select a.actor_id from comment m join comment p on p.id = m.parent_id join account a on a.id = p.account_id
       where m.account_id = $3
     union select c.actor_id from rating r join video v on v.id = r.video_id join channel c on c.id = v.channel_id
       where r.account_id = $3 and v.remote
     union select actor_id from kept_comment where account_id = $3
     union select actor_id from kept_rating where account_id = $3`,
    [actorsOf(owner), owner.accountId],
  )

/** The content of each kind, by its owner. */
const uploadsOf = (user: string) => `from upload o where o.user_id = ${user} and o.state in ('created', 'receiving', 'assembled')`
const importsOf = (user: string) => `from user_import o where o.user_id = ${user} and o.state in ('uploading', 'pending', 'processing')`
const videosOf = (account: string) => `from video o join channel c on c.id = o.channel_id where c.account_id = ${account}`
const commentsOf = (account: string) => `from comment o where o.account_id = ${account} and o.deleted_at is null`
const playlistsOf = (account: string) => `from playlist o where o.account_id = ${account} and o.type = ${playlistTypes.regular}`
const ratingsOf = (account: string) => `from rating o where o.account_id = ${account}`
const followingsOf = (actors: string) => `from follow o where o.follower_id = any(${actors}) and o.state <> 'none'`

/** Deletes everything; the videos' files follow by their own jobs. Throws when `signal` aborts. */
export async function deleteContents(db: Pick<Database, 'query'>, removers: Removers, owner: Owner, signal: AbortSignal): Promise<void> {
  const { userId, accountId } = owner
  const by = { accountId, role: userRoles.user }

  const each = <R extends object>(from: string, of: unknown, columns: string, remove: (row: R) => Promise<void>) =>
    eachRow<R & { id: number }>({ db, signal, from, values: [of], columns }, (row) => ignoreNotFound(remove(row)))

  await each<{ token: string }>(uploadsOf('$1'), userId, 'o.token', ({ token }) => removers.uploads.cancel({ userId, token }))
  await removers.userImports.cancelAll(userId)
  await each<{ id: number; state: string }>(videosOf('$1'), accountId, 'o.state', async ({ id, state }) => {
    if (state !== 'removed') await removers.videos.remove(id, by)
  })
  await each<{ id: number }>(commentsOf('$1'), accountId, 'o.video_id', ({ id }) => removers.comments.remove(id, by))
  await each<{ id: number }>(playlistsOf('$1'), accountId, 'o.type', ({ id }) => removers.playlists.remove(id, by))
  await each<{ videoId: number }>(ratingsOf('$1'), accountId, 'o.video_id as "videoId"', ({ videoId }) =>
    removers.ratings.setRating({ videoId, accountId, rating: 'none' }),
  )
  await dropRetainedCommentsOf(db.query, accountId)
  await dropRetainedRatingsOf(db.query, accountId)
  await each<{ id: number }>(followingsOf('$1'), actorsOf(owner), 'o.state', ({ id }) => removers.follows.withdraw(id))
  // Removed comments stay without an author, as places of their replies.
  await inBatches(signal, (limit) => disownRemovedComments(db.query, accountId, limit))
}

/** True if content is left, or notifications in the name of an actor are pending. One statement. */
export async function hasContents(query: Sql, owner: Owner): Promise<boolean> {
  const [answer] = await query<{ left: boolean }>(
    `select exists (select 1 ${uploadsOf('$1')}) or exists (select 1 ${importsOf('$1')})
       or exists (select 1 ${videosOf('$2')})
       or exists (select 1 ${commentsOf('$2')}) or exists (select 1 ${ratingsOf('$2')})
       or exists (select 1 ${playlistsOf('$2')})
       or exists (select 1 ${followingsOf('$3::int[]')})
       or exists (select 1 from outbox where parked_at is null and array[(payload->>'actorId')::int,
         (payload->>'followerId')::int, (payload->>'accountActorId')::int] && $3::int[]) as "left"`,
    [owner.userId, owner.accountId, actorsOf(owner)],
  )
  return answer?.left ?? false
}
