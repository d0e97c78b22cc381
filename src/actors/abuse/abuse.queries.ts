// Reads of reports: a page of them, for moderators or the reporter.

import { type Columns, containing, type Database, type InJson, roundedLimit } from '../../platform/database/index.ts'
import type { AbuseState } from '../../state-machines/abuse.ts'
import { type ActorImageRow, type ActorSummary, accountProfile, actorImageTypes, imagesOf } from '../actor/index.ts'
import { mutedAccounts, mutedHosts } from '../blocklist/index.ts'
import { thumbnailTypes } from '../video/video.entity.ts'
import type { Abuse } from './abuse.entity.ts'
import type { AbuseKind } from './subject.ts'
import { totalAbuses } from './totals.ts'

/** The current account, or the stored facts of a removed one. */
export type ReportedAccount = ActorSummary | { id: null; username: string; url: string }

export interface AbuseRow
  extends InJson<Columns<typeof Abuse, 'id' | 'state' | 'kind' | 'reason' | 'predefinedReasons' | 'moderationComment' | 'startAt'>>,
    InJson<Columns<typeof Abuse, 'endAt' | 'createdAt' | 'updatedAt'>> {
  messages: number
  reporter: ReportedAccount
  reportee: ReportedAccount
  /** By the same reporter, and about the same reportee. */
  reports_by_reporter: number
  reports_of_reportee: number
  /** Of a report of a video, even if it is removed. */
  video: {
    id: number
    uuid: string
    name: string
    nsfw: boolean
    deleted: boolean
    blocked: boolean
    privacy: number
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

/** The current channel, or the stored facts of a removed one. */
export interface ReportedChannel extends Omit<ActorSummary, 'host'> {
  /** Null for a local channel; absent if the channel is removed. */
  host?: string | null
  description: string | null
  banners: ActorImageRow[]
}

export interface AbuseListQuery {
  /** Only reports by this account. */
  reporterId?: number | undefined
  /** Without reporters muted by the instance or this account. */
  readerId?: number | undefined
  start: number
  count: number
  sort: { by: 'id' | 'createdAt' | 'state'; descending: boolean }
  id?: number | undefined
  /** Any of these. */
  predefinedReasons?: number[] | undefined
  state?: AbuseState | undefined
  videoIs?: 'deleted' | 'blacklisted' | undefined
  kind?: AbuseKind | undefined
  /** In the names of the reporter, the reportee, the video and its channel. */
  search?: string | undefined
  searchReporter?: string | undefined
  searchReportee?: string | undefined
  searchVideo?: string | undefined
  searchVideoChannel?: string | undefined
}

/** `AbuseState` of the contract: 1 pending, 2 rejected, 3 accepted. */
const STATE_ID = "(case r.state when 'pending' then 1 when 'rejected' then 2 else 3 end)"
const SORT = { id: 'r.id', createdAt: 'r.created_at', state: STATE_ID }

type Bind = (value: unknown) => string

/** SQL: places of the search text. Each has an index of its own, and returns its first matches: a word may be in every report. */
const accountsCalled = (like: string) => `(select a.id from account a where a.name ilike ${like})`
const PLACES = {
  searchReporter: (like: string) => [`r.reporter_name ilike ${like}`, `r.reporter_id in ${accountsCalled(like)}`],
  searchReportee: (like: string) => [`r.reportee_name ilike ${like}`, `r.reportee_id in ${accountsCalled(like)}`],
  searchVideo: (like: string) => [
    `r.kind = 'video' and r.video_name ilike ${like}`,
    `r.video_id in (select v.id from video v where v.name ilike ${like})`,
  ],
  searchVideoChannel: (like: string) => [
    `r.channel_display_name ilike ${like}`,
    `r.video_id in (select v.id from channel c join video v on v.channel_id = c.id where c.name ilike ${like})`,
  ],
} as const
const searches = Object.keys(PLACES) as (keyof typeof PLACES)[]

/** One list of places per word: all words must match. */
function placesOf(query: AbuseListQuery, bind: Bind): string[][] {
  const like = (text: string) => `${bind(containing(text))}::text`
  const found: string[][] = []
  if (query.search) {
    const part = like(query.search)
    found.push(searches.flatMap((name) => PLACES[name](part)))
  }
  for (const name of searches) {
    const text = query[name]
    if (text) found.push(PLACES[name](like(text)))
  }
  return found
}

const anyOf = (places: readonly string[]): string => `(${places.map((place) => `(${place})`).join(' or ')})`

/** Videos being removed are few, and found by an index; so are blocked ones. */
const VIDEO_IS = {
  deleted: "r.kind = 'video' and (r.video_id is null or r.video_id in (select id from video where state = 'removed'))",
  blacklisted: `r.kind = 'video' and r.video_id in (
    select b.video_id from video_block b join video v on v.id = b.video_id where v.state <> 'removed')`,
} as const

function conditions(query: AbuseListQuery, bind: Bind): string[] {
  const { reporterId, id, predefinedReasons, state, videoIs, kind } = query
  const found: string[] = []
  if (reporterId !== undefined) found.push(`r.reporter_id = ${bind(reporterId)}`)
  if (id !== undefined) found.push(`r.id = ${bind(id)}`)
  if (predefinedReasons !== undefined) found.push(`r.predefined_reasons && ${bind(predefinedReasons)}::smallint[]`)
  if (state !== undefined) found.push(`r.state = ${bind(state)}`)
  if (videoIs !== undefined) found.push(VIDEO_IS[videoIs])
  if (kind !== undefined) found.push(`r.kind = ${bind(kind)}`)
  return found
}

const JOINS = `left join account b on b.id = r.reporter_id left join actor bx on bx.id = b.actor_id
  left join account t on t.id = r.reportee_id left join actor tx on tx.id = t.actor_id
  left join video v on v.id = r.video_id and v.state <> 'removed'
  left join channel c on c.id = coalesce(v.channel_id, r.channel_id)`

const account = (noun: string, actor: string, kept: string): string =>
  `case when ${noun}.id is not null then ${accountProfile(noun, actor)}
   else jsonb_build_object('id', null, 'username', r.${kept}_name, 'url', r.${kept}_url) end as ${kept}`

const VIDEO_JSON = `case when r.kind = 'video' then jsonb_build_object('id', r.reported_id, 'uuid', r.video_uuid,
    'name', coalesce(v.name, r.video_name), 'nsfw', coalesce(v.nsfw, r.video_nsfw), 'deleted', v.id is null, 'blocked', coalesce(v.blocked, false), 'privacy', coalesce(v.privacy, 1),
    'thumbnail', (select p.filename from thumbnail p where p.video_id = v.id and p.type = ${thumbnailTypes.miniature}),
    'reports', (select n from of_videos o where o.id = r.reported_id),
    'nth_report', (select count(*) from abuse o where o.kind = 'video' and o.reported_id = r.reported_id and o.id <= r.id),
    'channel', case when c.id is not null then (
      select jsonb_build_object('id', c.id, 'username', cx.preferred_username, 'name', c.name, 'url', cx.url,
        'host', (select h.host from remote_host h where h.id = cx.host_id), 'description', c.description,
        'avatars', ${imagesOf('cx', actorImageTypes.avatar)}, 'banners', ${imagesOf('cx', actorImageTypes.banner)})
      from actor cx where cx.id = c.actor_id)
      when r.channel_id is not null then jsonb_build_object('id', r.channel_id, 'username', r.channel_name,
        'name', r.channel_display_name, 'url', r.channel_url, 'description', null,
        'avatars', '[]'::jsonb, 'banners', '[]'::jsonb) end) end as video`

const COMMENT_JSON = `case when r.kind = 'comment' then jsonb_build_object('id', r.reported_id, 'thread_id', r.thread_id,
    'text', r.comment_text,
    'deleted', not exists (select 1 from comment m where m.id = r.comment_id and m.deleted_at is null),
    'video', jsonb_build_object('id', r.commented_video_id, 'name', r.video_name, 'uuid', r.video_uuid)) end as comment`

/** SQL: true unless the reporter `r` is muted; for a removed account only its server counts. */
const isNotMuted = (reader: string): string => `coalesce(r.reporter_id, 0) not in (${mutedAccounts(reader)})
  and coalesce(r.reporter_host_id, 0) not in (${mutedHosts(reader)})`

/** SQL: number of reports that are hidden from a reader. */
const mutedReports = (reader: string): string => `(select count(*)::int from (
    select id from abuse where reporter_id = any(array(${mutedAccounts(reader)}))
    union select id from abuse where reporter_host_id = any(array(${mutedHosts(reader)}))) unheard)`

/** Limit of exact counts for filtered lists, and for searches, which read more: docs/adr/0007. */
const MOST_COUNTED = 10_000
const MOST_FOUND = 1000

/** One page of reports, with the total of all matches. One statement. */
export async function listAbuses(db: Pick<Database, 'query'>, query: AbuseListQuery): Promise<{ total: number; rows: AbuseRow[] }> {
  const { text, values } = buildAbuseList(query)
  const [page] = await db.query<{ total: number; rows: AbuseRow[] }>(text, values)
  return page ?? { total: 0, rows: [] }
}

/** The statement of a page: details are read for the page only, and counted once per person and video on it. */
export function buildAbuseList(query: AbuseListQuery): { text: string; values: unknown[] } {
  const values: unknown[] = []
  const bind = (value: unknown): string => `$${values.push(value)}`
  const key = SORT[query.sort.by]
  const order = query.sort.descending ? 'desc' : 'asc'
  const [looked = [], ...others] = placesOf(query, bind)
  const filters = [...conditions(query, bind), ...others.map(anyOf)]
  const reader = query.readerId === undefined ? undefined : `${bind(query.readerId)}::int`
  const whereOf = (more: string[] = []): string => {
    const all = [...filters, ...(reader === undefined ? [] : [isNotMuted(reader)]), ...more]
    return all.length > 0 ? `where ${all.join(' and ')}` : ''
  }
  const first = looked.map(
    (place) => `(select r.id from abuse r ${whereOf([place])} order by ${key} ${order}, r.id ${order}
      limit ${roundedLimit(query.start + query.count)})`,
  )
  const where = first.length > 0 ? `where r.id in (${first.join(' union ')})` : whereOf()
  const counted = [
    ...looked.map((place) => `(select r.id from abuse r ${whereOf([place])} limit ${MOST_FOUND})`),
    ...(looked.length === 0 && filters.length > 0 ? [`(select r.id from abuse r ${where} limit ${MOST_COUNTED})`] : []),
  ]
  const total =
    counted.length === 0
      ? `(${totalAbuses()} - ${reader === undefined ? 0 : mutedReports(reader)})`
      : `(select least(count(*), ${looked.length > 0 ? MOST_FOUND : MOST_COUNTED})::int from (${counted.join(' union ')}) found)`
  const text = `with page as materialized (
      select r.*, ${key} as sort_key from abuse r ${where}
      order by ${key} ${order}, r.id ${order} limit ${bind(query.count)} offset ${bind(query.start)}
    ), by_reporters as (
      select o.reporter_id as id, count(*) as n from abuse o where o.reporter_id in (select reporter_id from page) group by 1
    ), of_reportees as (
      select o.reportee_id as id, count(*) as n from abuse o where o.reportee_id in (select reportee_id from page) group by 1
    ), of_videos as (
      select o.reported_id as id, count(*) as n from abuse o
      where o.kind = 'video' and o.reported_id in (select reported_id from page where kind = 'video') group by 1
    ), shown as (
      select r.sort_key, r.id, r.state, r.kind, r.reason, r.predefined_reasons, r.moderation_comment, r.start_at,
        r.end_at, r.created_at, r.updated_at,
        (select count(*) from abuse_message m where m.abuse_id = r.id) as messages,
        ${account('b', 'bx', 'reporter')}, ${account('t', 'tx', 'reportee')},
        coalesce((select n from by_reporters o where o.id = r.reporter_id), 0) as reports_by_reporter,
        coalesce((select n from of_reportees o where o.id = r.reportee_id), 0) as reports_of_reportee,
        ${VIDEO_JSON}, ${COMMENT_JSON}
      from page r ${JOINS}
    )
    select ${total} as total,
      coalesce((select jsonb_agg(to_jsonb(shown) order by sort_key ${order}, id ${order}) from shown), '[]') as rows`
  return { text, values }
}

/** The video of a comment that is reported. */
export async function videoOfComment(db: Pick<Database, 'query'>, commentId: number): Promise<number | undefined> {
  const [row] = await db.query<{ videoId: number }>('select video_id as "videoId" from comment where id = $1 and deleted_at is null', [
    commentId,
  ])
  return row?.videoId
}
