// Reads of blocks: the lists of the instance and of each user, and whether an account or a server is blocked.

import { containing, type Database } from '../../platform/database/index.ts'
import { type ActorProfile, accountProfile, INSTANCE_ACTOR_NAME } from '../actor/index.ts'

type Reader = Pick<Database, 'query'>

export interface BlockListQuery {
  /** Account of the user; null for the instance. */
  ownerId: number | null
  start: number
  count: number
  descending: boolean
  /** In the names of the account, or in the host. */
  search?: string | undefined
}

export interface AccountBlockRow {
  created_at: string
  owner: ActorProfile
  target: ActorProfile
}

export interface ServerBlockRow {
  created_at: string
  owner: ActorProfile
  host: string
}

const OWNER = `case when b.owner_id is not null then ${accountProfile('o', 'ox')} else (
    select ${accountProfile('ia', 'i')} from actor i join account ia on ia.actor_id = i.id
    where i.host_id is null and lower(i.preferred_username) = '${INSTANCE_ACTOR_NAME}') end as owner`
const OWNER_JOINS = 'left join account o on o.id = b.owner_id left join actor ox on ox.id = o.actor_id'

/** A page of blocked accounts, with the total of all matches. One statement. */
export async function listAccountBlocks(db: Reader, query: BlockListQuery): Promise<{ total: number; rows: AccountBlockRow[] }> {
  const order = query.descending ? 'desc' : 'asc'
  const matching = `from account_block b join account t on t.id = b.target_id join actor tx on tx.id = t.actor_id
    where b.owner_id is not distinct from $1::int
      and ($2::text is null or t.name ilike $2 or tx.preferred_username ilike $2)`
  return await page(
    db,
    `with page as (
       select b.id, b.owner_id, b.target_id, b.created_at ${matching}
       order by b.created_at ${order}, b.id ${order} limit $3 offset $4
     ), shown as (
       select b.id, b.created_at, ${OWNER}, ${accountProfile('t', 'tx')} as target
       from page b join account t on t.id = b.target_id join actor tx on tx.id = t.actor_id ${OWNER_JOINS}
     ) select (select count(*)::int ${matching}) as total,
       coalesce((select jsonb_agg(shown order by created_at ${order}, id ${order}) from shown), '[]') as rows`,
    query,
  )
}

/** A page of blocked servers, with the total of all matches. One statement. */
export async function listServerBlocks(db: Reader, query: BlockListQuery): Promise<{ total: number; rows: ServerBlockRow[] }> {
  const order = query.descending ? 'desc' : 'asc'
  const matching = `from server_block b
    where b.owner_id is not distinct from $1::int and ($2::text is null or b.host ilike $2)`
  return await page(
    db,
    `with page as (
       select b.id, b.owner_id, b.host, b.created_at ${matching}
       order by b.created_at ${order}, b.id ${order} limit $3 offset $4
     ), shown as (
       select b.id, b.created_at, b.host, ${OWNER} from page b ${OWNER_JOINS}
     ) select (select count(*)::int ${matching}) as total,
       coalesce((select jsonb_agg(shown order by created_at ${order}, id ${order}) from shown), '[]') as rows`,
    query,
  )
}

async function page<Row>(
  db: Reader,
  text: string,
  { ownerId, search, count, start }: BlockListQuery,
): Promise<{ total: number; rows: Row[] }> {
  const [found] = await db.query<{ total: number; rows: Row[] }>(text, [ownerId, search ? containing(search) : null, count, start])
  return found ?? { total: 0, rows: [] }
}

export interface BlockStatusRow {
  /** As requested. */
  asked: string
  byServer: boolean
  byUser: boolean
}

/** Whether accounts, by name and host (null for a local one), are blocked. In the order of the request. One statement. */
export const accountBlockStatus = (
  db: Reader,
  handles: { asked: string; name: string; host: string | null }[],
  readerId: number | null,
): Promise<BlockStatusRow[]> =>
  db.query<BlockStatusRow>(
    `select h.asked, coalesce(bool_or(b.id is not null and b.owner_id is null), false) as "byServer",
       coalesce(bool_or(b.owner_id = $4::int), false) as "byUser"
     from unnest((select $1::text[]), (select $2::text[]), (select $3::text[])) with ordinality as h (asked, name, host, place)
       left join actor x on lower(x.preferred_username) = lower(h.name)
         and x.host_id is not distinct from (select r.id from remote_host r where r.host = lower(h.host))
         and (h.host is null) = (x.host_id is null)
       left join account a on a.actor_id = x.id
       left join account_block b on b.target_id = a.id and (b.owner_id is null or b.owner_id = $4::int)
     group by h.place, h.asked order by h.place`,
    [handles.map((one) => one.asked), handles.map((one) => one.name), handles.map((one) => one.host), readerId],
  )

/** Whether servers are blocked. In the order of the request. One statement. */
export const serverBlockStatus = (db: Reader, hosts: string[], readerId: number | null): Promise<BlockStatusRow[]> =>
  db.query<BlockStatusRow>(
    `select h.asked, exists (select 1 from server_block where host = lower(h.asked) and owner_id is null) as "byServer",
       exists (select 1 from server_block where host = lower(h.asked) and owner_id = $2::int) as "byUser"
     from unnest((select $1::text[])) with ordinality as h (asked, place) order by h.place`,
    [hosts, readerId],
  )
