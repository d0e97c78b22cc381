// Users for the staff: a single one, a page of the list, and name suggestions.

import { containing, type Database } from '../../platform/database/index.ts'
import { USER_JOINS, type UserRow, userChannels, userColumns } from './user.queries.ts'

type Reader = Pick<Database, 'query'>

/** Bytes of a user's videos. */
export interface UserUsage {
  used: number
  /** Bytes added in the last 24 hours. */
  used_daily: number
}

export interface UserStats extends UserUsage {
  videos: number
  comments: number
  /** Reports about the user's content, accepted ones, and reports by the user. */
  abuses: number
  accepted_abuses: number
  created_abuses: number
}

export type UserSortField = 'id' | 'username' | 'videoQuotaUsed' | 'createdAt' | 'lastLoginDate' | 'role'

export interface UserListQuery {
  start: number
  count: number
  sort: { by: UserSortField; descending: boolean }
  /** Part of a name or an address. */
  search?: string | undefined
  blocked?: boolean | undefined
}

/** Users whose removal has not ended yet are excluded. */
const EXISTS = "u.state <> 'deleted'"

const COLUMNS: Record<UserSortField, string> = {
  id: 'u.id',
  username: 'u.username',
  videoQuotaUsed: 'usage.used',
  createdAt: 'u.created_at',
  lastLoginDate: 'u.last_login_at',
  role: 'u.role',
}

/** All files of the user's videos count, and retained originals. */
const USAGE = `cross join lateral (
    select coalesce(sum(size.bytes), 0)::bigint as used,
      coalesce(sum(size.bytes) filter (where v.created_at > now() - interval '24 hours'), 0)::bigint as used_daily,
      count(*) filter (where v.state <> 'removed')::int as videos
    from channel c join video v on v.channel_id = c.id cross join lateral (
      select coalesce((select sum(f.size) from video_file f where f.video_id = v.id), 0)
        + coalesce((select s.size from video_source s where s.video_id = v.id and s.kept_filename is not null), 0) as bytes
    ) size where c.account_id = a.id
  ) usage`
const COMMENTS = '(select count(*)::int from comment m where m.account_id = a.id and m.deleted_at is null) as comments'

const ABUSES = `(select count(*)::int from abuse r where r.reportee_id = a.id) as abuses,
  (select count(*)::int from abuse r where r.reportee_id = a.id and r.state = 'accepted') as accepted_abuses,
  (select count(*)::int from abuse r where r.reporter_id = a.id) as created_abuses`

type ListedRow = Omit<UserRow, 'channels'> & UserUsage

/** A page of users without their channels, with the total of all matches; the oldest first among equals. One statement. */
export async function listUsers(db: Reader, query: UserListQuery): Promise<{ total: number; rows: ListedRow[] }> {
  const { text, values } = buildUserList(query)
  const found = await db.query<ListedRow & { total: number }>(text, values)
  // An empty page still has the row of the count.
  return { total: found[0]?.total ?? 0, rows: found.filter((row) => row.id !== null) }
}

/** The statement of a list. Usage is summed up only for the page, unless the list is sorted by it. */
export function buildUserList(query: UserListQuery): { text: string; values: unknown[] } {
  const { by, descending } = query.sort
  const order = descending ? 'desc' : 'asc'
  const nulls = by === 'lastLoginDate' ? `nulls ${descending ? 'last' : 'first'}` : ''
  const matching = `${EXISTS} and ($1::boolean is null or u.blocked = $1)
    and ($2::text is null or u.username ilike $2 or u.email ilike $2)`
  const text = `with page as (
       select u.id, ${COLUMNS[by]} as sort_key
       from users u ${by === 'videoQuotaUsed' ? `join account a on a.user_id = u.id ${USAGE}` : ''} where ${matching}
       order by sort_key ${order} ${nulls}, u.id limit $3 offset $4
     ), shown as (
       select page.sort_key, ${userColumns()}, usage.used, usage.used_daily
       from page join users u on u.id = page.id ${USER_JOINS} ${USAGE}
     )
     select counted.total, shown.*
     from (select count(*)::int as total from users u where ${matching}) counted left join shown on true
     order by shown.sort_key ${order} ${nulls}, shown.id`
  const search = query.search ? containing(query.search) : null
  return { text, values: [query.blocked ?? null, search, query.count, query.start] }
}

/** A user with account and channels. One statement. */
export async function findUser(db: Reader, userId: number): Promise<UserRow | undefined> {
  const [row] = await db.query<UserRow>(
    `select ${userColumns()}, ${userChannels()} from users u ${USER_JOINS} where u.id = $1 and ${EXISTS}`,
    [userId],
  )
  return row
}

/** The same with statistics. One statement. */
export async function findUserWithStats(db: Reader, userId: number): Promise<(UserRow & UserStats) | undefined> {
  const [row] = await db.query<UserRow & UserStats>(
    `select ${userColumns()}, ${userChannels()}, usage.used, usage.used_daily, usage.videos, ${COMMENTS}, ${ABUSES}
     from users u ${USER_JOINS} ${USAGE} where u.id = $1 and ${EXISTS}`,
    [userId],
  )
  return row
}

const MAX_NAMES = 10

/** Names of users that contain the text, at most ten. One statement. */
export async function namesOfUsers(db: Reader, search: string): Promise<string[]> {
  const rows = await db.query<{ username: string }>(
    `select u.username from users u where ${EXISTS} and u.username ilike $1 order by u.username limit ${MAX_NAMES}`,
    [containing(search)],
  )
  return rows.map((row) => row.username)
}
