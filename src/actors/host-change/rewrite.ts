// Changes the public address in the data of a stopped server: every local address is rewritten, a part of each table at a time. An
// interrupted run can be repeated, since rewritten addresses do not match any more.

import type { Database, Sql } from '../../platform/database/index.ts'
import { removeSetting, saveSetting } from '../instance/instance.writes.ts'
import { DomainError } from '../runtime/index.ts'
import { findTextTables, holds, replaced, type TextTable, valuesOf } from './columns.ts'
import { type Replacement, replacementsOf } from './patterns.ts'

export interface HostChange {
  /** Origins. */
  from: string
  to: string
}

export interface HostPreview {
  columns: { column: string; rows: number }[]
  /** Queued documents for other servers, which are dropped: they are signed with the old name. */
  deliveries: number
  /** Remote followers of the old address, who are lost. */
  followers: number
  /** Follows of remote actors, which are requested again. */
  follows: number
}

/** Called with the number of finished pages, and the total. */
export type OnProgress = (done: number, total: number) => void

const SETTING = 'update-host'
/** Pages of 8 KiB rewritten in one statement. */
const PAGES = 500

const REMOTE_FOLLOWERS = `from follow f where exists (select from actor a where a.id = f.target_id and a.host_id is null)
  and exists (select from actor a where a.id = f.follower_id and a.host_id is not null)`
const OUR_FOLLOWS = `from follow f where exists (select from actor a where a.id = f.follower_id and a.host_id is null)
  and exists (select from actor a where a.id = f.target_id and a.host_id is not null)`

export function makeHostRewrite({ db }: { db: Database }) {
  const { query } = db

  async function under(change: HostChange, table: TextTable, pages: { from: number; to: number }): Promise<number> {
    const replacements = replacementsOf(change.from, change.to)
    const rows = await query(updateOf(table, replacements, pages), valuesOf(replacements))
    return rows.length
  }

  return {
    /** The pending change; undefined if the data belongs to the origin already, or is empty. */
    async find(to: string): Promise<HostChange | undefined> {
      const begun = await findBegun(query)
      if (begun) {
        if (begun.to === to) return begun
        throw new DomainError('conflict', `The change to ${begun.to} has begun: end that first.`)
      }
      const [actor] = await query<{ url: string }>(
        "select url from actor where host_id is null and type = 'Application' order by id limit 1",
      )
      const from = actor && new URL(actor.url).origin
      return from === undefined || from === to ? undefined : { from, to }
    },

    /** Number of affected rows per column, and what will be deleted. */
    async preview({ from, to }: HostChange): Promise<HostPreview> {
      const [pattern] = valuesOf(replacementsOf(from, to))
      const columns: HostPreview['columns'] = []
      for (const { table, columns: all } of await findTextTables(query)) {
        const counts = all.map((column) => `count(*) filter (where ${holds(column)}) as "${column.name}"`)
        const [found = {}] = await query<Record<string, number>>(`select ${counts.join(', ')} from "${table}"`, [pattern])
        for (const [name, rows] of Object.entries(found)) if (rows > 0) columns.push({ column: `${table}.${name}`, rows })
      }
      const [sums] = await query<Omit<HostPreview, 'columns'>>(
        `select (select count(*) from delivery) as deliveries, (select count(*) ${REMOTE_FOLLOWERS}) as followers,
           (select count(*) ${OUR_FOLLOWS}) as follows`,
      )
      return { columns, deliveries: 0, followers: 0, follows: 0, ...sums }
    },

    /** Rewrites everything. Throws `conflict` while a server uses the database, unless `evenIfUsed`. Data on other servers stays. */
    async rewrite(change: HostChange, { evenIfUsed, onProgress }: { evenIfUsed: boolean; onProgress: OnProgress }) {
      await refuseForeign(query, change.to)
      if (!evenIfUsed) await refuseUsed(query)
      await saveSetting(query, SETTING, change)
      await dropWhatIsOver(query)
      const tables = await findTextTables(query)
      const sized = await Promise.all(tables.map(async (table) => ({ ...table, pages: await pagesOf(query, table.table) })))
      const total = sized.reduce((sum, { pages }) => sum + pages, 0)
      let [rows, done] = [0, 0]
      for (const { pages, ...table } of sized) {
        for (let from = 0; from < pages; from += PAGES) {
          rows += await under(change, table, { from, to: Math.min(from + PAGES, pages) })
          done += Math.min(PAGES, pages - from)
          onProgress(done, total)
        }
      }
      return { rows }
    },

    /** Call it when nothing is left to do. */
    async finish(): Promise<void> {
      await removeSetting(query, SETTING)
    },
  }
}

/** An unfinished change of address: no server may run until it is finished. */
export async function findBegun(query: Sql): Promise<HostChange | undefined> {
  const [begun] = await query<{ value: HostChange }>('select value from setting where key = $1', [SETTING])
  return begun?.value
}

/** The first rows of a table are read by their physical position, so that no index is needed and nothing is read twice. */
function updateOf({ table, columns }: TextTable, replacements: readonly Replacement[], pages: { from: number; to: number }) {
  // The record of the change itself contains the old address.
  const others = table === 'setting' ? ` and key <> '${SETTING}'` : ''
  return `update "${table}" set ${columns.map((column) => `"${column.name}" = ${replaced(column, replacements)}`).join(', ')}
    where ctid >= '(${pages.from},0)'::tid and ctid < '(${pages.to},0)'::tid
      and (${columns.map(holds).join(' or ')})${others} returning 1`
}

async function pagesOf(query: Sql, table: string): Promise<number> {
  const [found] = await query<{ pages: number }>(
    "select ceil(pg_relation_size(format('%I', $1::text)::regclass) / current_setting('block_size')::numeric)::integer as pages",
    [table],
  )
  return found?.pages ?? 0
}

/** Rows of a remote server at the new address would conflict with local ones. */
async function refuseForeign(query: Sql, to: string): Promise<void> {
  const { host } = new URL(to)
  const [known] = await query<{ id: number }>(
    'select h.id from remote_host h where h.host = $1 and exists (select from actor a where a.host_id = h.id)',
    [host],
  )
  if (!known) return
  throw new DomainError('conflict', `${host} is known here as a remote server, whose actors would conflict with the local ones.`)
}

async function refuseUsed(query: Sql): Promise<void> {
  const others = await query<{ who: string }>(
    `select format('%s from %s', coalesce(nullif(application_name, ''), 'a connection'), coalesce(host(client_addr), 'here')) as who
     from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  )
  if (others.length === 0) return
  const who = [...new Set(others.map((other) => other.who))].join(', ')
  throw new DomainError(
    'conflict',
    `The database is in use (${who}): stop every process of the server first. If that is only a pool of connections, say --even-if-used.`,
  )
}

/** Deletes caches, and data signed with the old name. Torrents and magnet URIs are made again. */
async function dropWhatIsOver(query: Sql): Promise<void> {
  await query('truncate kv')
  await query('truncate delivery, document')
  await query(`delete ${REMOTE_FOLLOWERS}`)
  await query(
    `update actor a set followers_count = f.count from (
       select t.id, (select count(*) from follow where target_id = t.id and state = 'accepted') as count
       from actor t where t.host_id is null) f
     where a.id = f.id and a.followers_count <> f.count`,
  )
  await query(
    `update video_file f set magnet_url = null from video v
     where v.id = f.video_id and not v.remote and f.magnet_url is not null`,
  )
}
