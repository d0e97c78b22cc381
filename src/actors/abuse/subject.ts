// The subject of a report: the reported row, and a copy of its facts that keeps the report readable after its removal.

import type { Sql } from '../../platform/database/index.ts'
import { waitingBelow } from '../comment/comment.entity.ts'
import { isBegun, videoPrivacies } from '../video/index.ts'

export type AbuseKind = 'video' | 'comment' | 'account'

export interface AbuseSubject {
  kind: AbuseKind
  id: number
}

/** SQL: the columns of `abuse` that are copied from the subject with the id $1, by kind. */
const NO_CHANNEL = 'null::int as channel_id, null::text as channel_name, null::text as channel_display_name, null::text as channel_url'
const NOTHING = 'null::text as video_name, null::uuid as video_uuid, null::boolean as video_nsfw'
const NO_COMMENT = 'null::int as commented_video_id, null::int as thread_id, null::text as comment_text'
const REPORTEE = 'a.id as reportee_id, x.preferred_username as reportee_name, x.url as reportee_url'

export const subjectSql: Record<AbuseKind, string> = {
  video: `select v.url as object_url, v.id as reported_id, v.id as video_id, null::int as comment_id, ${REPORTEE},
      v.name as video_name, v.uuid as video_uuid, v.nsfw as video_nsfw, ${NO_COMMENT},
      c.id as channel_id, cx.preferred_username as channel_name, c.name as channel_display_name, cx.url as channel_url
    from video v join channel c on c.id = v.channel_id join actor cx on cx.id = c.actor_id join account a on a.id = c.account_id join actor x on x.id = a.actor_id
    where v.id = $1 and v.state <> 'removed'`,
  comment: `select m.url as object_url, m.id as reported_id, null::int as video_id, m.id as comment_id, ${REPORTEE},
      v.name as video_name, v.uuid as video_uuid, v.nsfw as video_nsfw,
      v.id as commented_video_id, coalesce(m.thread_id, m.id) as thread_id, m.text as comment_text,
      ${NO_CHANNEL}
    from comment m join video v on v.id = m.video_id join account a on a.id = m.account_id join actor x on x.id = a.actor_id
    where m.id = $1 and m.deleted_at is null and v.state <> 'removed'`,
  account: `select x.url as object_url, a.id as reported_id, null::int as video_id, null::int as comment_id, ${REPORTEE},
      ${NOTHING}, ${NO_COMMENT}, ${NO_CHANNEL}
    from account a join actor x on x.id = a.actor_id where a.id = $1 and x.deleted_at is null`,
}

/** Other servers cannot report what they cannot see, so that a report reveals nothing. */
const isShown = `v.privacy in (${videoPrivacies.public}, ${videoPrivacies.unlisted}) and ${isBegun('v')}`

/**
 * The local subject of a remote report: local videos, comments on them, local accounts (also by their channels), and their comments
 * elsewhere. One statement.
 */
export async function concerningSubject(query: Sql, url: string): Promise<AbuseSubject | undefined> {
  const [subject] = await query<AbuseSubject>(
    `select 'video' as kind, v.id from video v
     where v.url_hash = md5($1)::uuid and v.url = $1 and not v.remote and ${isShown}
     union all
     select 'comment', m.id from comment m join video v on v.id = m.video_id
       join account a on a.id = m.account_id join actor x on x.id = a.actor_id
     where m.url_hash = md5($1)::uuid and m.url = $1 and m.deleted_at is null
       and case when v.remote then x.host_id is null else ${isShown} and m.id not in (${waitingBelow('m.video_id')}) end
     union all
     select 'account', a.id from actor x left join channel c on c.actor_id = x.id
       join account a on a.actor_id = x.id or a.id = c.account_id
     where x.url_hash = md5($1)::uuid and x.url = $1 and x.host_id is null and x.deleted_at is null
     limit 1`,
    [url],
  )
  return subject
}
