// Reads of reports: a page of them, for moderators or for who reported.

import { containing, type Database } from '../../platform/database/index.ts'
import type { AbuseState } from '../../state-machines/abuse.ts'
import { type ActorImageRow, actorImageTypes, imagesOf } from '../actor/index.ts'
import { type ActorSummary, accountProfile } from '../video/index.ts'
import type { AbuseKind } from './subject.ts'

/** An account as it is, or what is known of one that is gone. */
export type ReportedAccount = ActorSummary | { id: null; username: string; url: string }

export interface AbuseRow {
  id: number
  state: AbuseState
  kind: AbuseKind
  reason: string
  predefined_reasons: number[]
  moderation_comment: string | null
  start_at: number | null
  end_at: number | null
  created_at: string
  updated_at: string
  messages: number
  reporter: ReportedAccount
  reportee: ReportedAccount
  /** By the same reporter, and of the same reportee. */
  reports_by_reporter: number
  reports_of_reportee: number
  /** Of a report of a video, also when it is gone. */
  video: {
    id: number
    uuid: string
    name: string
    nsfw: boolean
    deleted: boolean
    blocked: boolean
    thumbnail: string | null
    reports: number
    nth_report: number
    channel: ReportedChannel | null
  } | null
  comment: {
    id: number
    thread_id: number
    text: string
    deleted: boolean
    video: { id: number; name: string; uuid: string }
  } | null
}

export interface ReportedChannel extends ActorSummary {
  description: string | null
  banners: ActorImageRow[]
}

export interface AbuseListQuery {
  /** Only those by this account. */
  reporterId?: number | undefined
  start: number
  count: number
  sort: { by: 'id' | 'createdAt' | 'state'; descending: boolean }
  id?: number | undefined
  /** Any of these. */
  predefinedReasons?: number[] | undefined
  state?: AbuseState | undefined
  videoIs?: 'deleted' | 'blacklisted' | undefined
  kind?: AbuseKind | undefined
  /** In the names of who reported, who was reported, the video and its channel. */
  search?: string | undefined
  searchReporter?: string | undefined
  searchReportee?: string | undefined
  searchVideo?: string | undefined
  searchVideoChannel?: string | undefined
}

/** `AbuseState` of the contract: 1 pending, 2 rejected, 3 accepted. */
const STATE_ID = "(case r.state when 'pending' then 1 when 'rejected' then 2 else 3 end)"
const SORT = { id: 'r.id', createdAt: 'r.created_at', state: STATE_ID }

const JOINS = `left join account b on b.id = r.reporter_id left join actor bx on bx.id = b.actor_id
  left join account t on t.id = r.reportee_id left join actor tx on tx.id = t.actor_id
  left join video v on v.id = r.video_id and v.state <> 'removed' left join channel c on c.id = v.channel_id`

const named = (names: string[], parameter: string): string =>
  `(${names.map((name) => `${name} ilike ${parameter}`).join(' or ')})`
const REPORTER = ['r.reporter_name', 'b.name']
const REPORTEE = ['r.reportee_name', 't.name']
const VIDEO = ["case when r.kind = 'video' then coalesce(v.name, r.video_name) end"]
const CHANNEL = ['c.name']

const MATCHES = `($1::int is null or r.reporter_id = $1) and ($2::int is null or r.id = $2)
  and ($3::smallint[] is null or r.predefined_reasons && $3) and ($4::text is null or r.state = $4)
  and ($5::text is null or r.kind = 'video' and case when $5 = 'deleted' then v.id is null else coalesce(v.blocked, false) end) and ($6::text is null or r.kind = $6)
  and ($7::text is null or ${named([...REPORTER, ...REPORTEE, ...VIDEO, ...CHANNEL], '$7')})
  and ($8::text is null or ${named(REPORTER, '$8')}) and ($9::text is null or ${named(REPORTEE, '$9')})
  and ($10::text is null or ${named(VIDEO, '$10')}) and ($11::text is null or ${named(CHANNEL, '$11')})`

const account = (noun: string, actor: string, kept: string): string =>
  `case when ${noun}.id is not null then ${accountProfile(noun, actor)}
   else jsonb_build_object('id', null, 'username', r.${kept}_name, 'url', r.${kept}_url) end as ${kept}`

const VIDEO_JSON = `case when r.kind = 'video' then jsonb_build_object('id', r.reported_id, 'uuid', r.video_uuid,
    'name', coalesce(v.name, r.video_name), 'nsfw', coalesce(v.nsfw, r.video_nsfw), 'deleted', v.id is null, 'blocked', coalesce(v.blocked, false),
    'thumbnail', (select p.filename from thumbnail p where p.video_id = v.id and p.type = 1),
    'reports', (select count(*) from abuse o where o.kind = 'video' and o.reported_id = r.reported_id),
    'nth_report', (select count(*) from abuse o where o.kind = 'video' and o.reported_id = r.reported_id and o.id <= r.id),
    'channel', case when c.id is not null then (
      select jsonb_build_object('id', c.id, 'username', cx.preferred_username, 'name', c.name, 'url', cx.url,
        'host', (select h.host from remote_host h where h.id = cx.host_id), 'description', c.description,
        'avatars', ${imagesOf('cx', actorImageTypes.avatar)}, 'banners', ${imagesOf('cx', actorImageTypes.banner)})
      from actor cx where cx.id = c.actor_id) end) end as video`

const COMMENT_JSON = `case when r.kind = 'comment' then jsonb_build_object('id', r.reported_id, 'thread_id', r.thread_id,
    'text', r.comment_text,
    'deleted', not exists (select 1 from comment m where m.id = r.comment_id and m.deleted_at is null),
    'video', jsonb_build_object('id', r.commented_video_id, 'name', r.video_name, 'uuid', r.video_uuid)) end as comment`

/** One page of reports, with the count of all that match. One statement. */
export async function listAbuses(
  db: Pick<Database, 'query'>,
  query: AbuseListQuery,
): Promise<{ total: number; rows: AbuseRow[] }> {
  const order = query.sort.descending ? 'desc' : 'asc'
  const part = (text: string | undefined) => (text ? containing(text) : null)
  const [page] = await db.query<{ total: number; rows: AbuseRow[] }>(
    `with matching as (select r.id, ${SORT[query.sort.by]} as sort_key from abuse r ${JOINS} where ${MATCHES}),
     page as (select * from matching order by sort_key ${order}, id ${order} limit $12 offset $13),
     shown as (
       select page.sort_key, r.id, r.state, r.kind, r.reason, r.predefined_reasons, r.moderation_comment, r.start_at,
         r.end_at, r.created_at, r.updated_at,
         (select count(*) from abuse_message m where m.abuse_id = r.id) as messages,
         ${account('b', 'bx', 'reporter')}, ${account('t', 'tx', 'reportee')},
         (select count(*) from abuse o where o.reporter_id = r.reporter_id) as reports_by_reporter,
         (select count(*) from abuse o where o.reportee_id = r.reportee_id) as reports_of_reportee,
         ${VIDEO_JSON}, ${COMMENT_JSON}
       from page join abuse r on r.id = page.id ${JOINS}
     )
     select (select count(*)::int from matching) as total,
       coalesce((select jsonb_agg(to_jsonb(shown) order by sort_key ${order}, id ${order}) from shown), '[]') as rows`,
    [
      query.reporterId ?? null,
      query.id ?? null,
      query.predefinedReasons ?? null,
      query.state ?? null,
      query.videoIs ?? null,
      query.kind ?? null,
      part(query.search),
      part(query.searchReporter),
      part(query.searchReportee),
      part(query.searchVideo),
      part(query.searchVideoChannel),
      query.count,
      query.start,
    ],
  )
  return page ?? { total: 0, rows: [] }
}

/** Where a comment to be reported stands. */
export async function videoOfComment(db: Pick<Database, 'query'>, commentId: number): Promise<number | undefined> {
  const [row] = await db.query<{ videoId: number }>(
    'select video_id as "videoId" from comment where id = $1 and deleted_at is null',
    [commentId],
  )
  return row?.videoId
}
