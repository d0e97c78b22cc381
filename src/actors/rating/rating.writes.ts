// Retained ratings of local users on a removed remote video, since only this server can undo them.

import type { Sql } from '../../platform/database/index.ts'
import type { Unit } from '../runtime/index.ts'

/** Call it before the ratings are deleted with the video. */
export const retainRatings = (unit: Unit, videoId: number) =>
  unit.query(
    `insert into kept_rating (url, video_url, actor_id, account_id, type, created_at, kept_at)
     select said.url, v.url, c.actor_id, a.id, said.type, said.created_at, $2
     from rating said join account a on a.id = said.account_id and a.user_id is not null
       join video v on v.id = said.video_id join channel c on c.id = v.channel_id
     where said.video_id = $1 and v.remote on conflict do nothing`,
    [videoId, unit.now],
  )

/** For a video that came back. They are included in the counts of its server. */
export const restoreRatings = (query: Sql, videoId: number) =>
  query(
    `with kept as (
       delete from kept_rating k using video v
       where v.id = $1 and k.video_url_hash = v.url_hash and k.video_url = v.url
       returning k.account_id, k.type, k.url, k.created_at
     ) insert into rating (video_id, account_id, type, url, created_at, updated_at)
       select $1, account_id, type, url, created_at, created_at from kept on conflict do nothing`,
    [videoId],
  )

export const dropRetainedRatingsOf = (query: Sql, accountId: number) => query('delete from kept_rating where account_id = $1', [accountId])

export const dropRetainedRatings = (query: Sql, before: Date) => query('delete from kept_rating where kept_at < $1', [before])
