// What users of ours said of a video of another server, kept when that one takes the video back: it may come again, with their
// comments and ratings, which nobody else can take back. The comments come as its server lists them.

import type { Sql } from '../../platform/database/index.ts'

/** Before the rows go with the video. */
export async function retainInteractions(query: Sql, videoId: number, now: Date): Promise<void> {
  const ours = `join account a on a.id = said.account_id and a.user_id is not null
    join video v on v.id = said.video_id join channel c on c.id = v.channel_id`
  await query(
    `insert into kept_comment (id, url, video_url, actor_id, account_id, parent_url, text, held_for_review, approval_url,
       created_at, updated_at, kept_at)
     select said.id, said.url, v.url, c.actor_id, a.id, p.url, said.text, said.held_for_review, said.approval_url,
       said.created_at, said.updated_at, $2
     from comment said ${ours} left join comment p on p.id = said.parent_id
     where said.video_id = $1 and v.remote and said.deleted_at is null on conflict do nothing`,
    [videoId, now],
  )
  await query(
    `insert into kept_rating (url, video_url, actor_id, account_id, type, created_at, kept_at)
     select said.url, v.url, c.actor_id, a.id, said.type, said.created_at, $2
     from rating said ${ours} where said.video_id = $1 and v.remote on conflict do nothing`,
    [videoId, now],
  )
}

/** Of a video that is here again. They are in the counts of its server. */
export async function restoreRatings(query: Sql, videoId: number): Promise<void> {
  await query(
    `with kept as (
       delete from kept_rating k using video v
       where v.id = $1 and k.video_url_hash = v.url_hash and k.video_url = v.url
       returning k.account_id, k.type, k.url, k.created_at
     ) insert into rating (video_id, account_id, type, url, created_at, updated_at)
       select $1, account_id, type, url, created_at, created_at from kept on conflict do nothing`,
    [videoId],
  )
}
