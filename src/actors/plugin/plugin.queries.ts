// Reads of plugins.

import type { Columns, Database, Sql } from '../../platform/database/index.ts'
import type { Declared } from './declared.ts'
import { type PluginType, typeOf } from './manifest.ts'
import type { Plugin } from './plugin.entity.ts'

export type PluginRow = Columns<typeof Plugin, 'id' | 'npmName' | 'state' | 'version' | 'latestVersion' | 'manifest' | 'integrity'> &
  Columns<typeof Plugin, 'failure' | 'declared' | 'hostOwner' | 'hostAddress' | 'settingsSealed' | 'createdAt' | 'updatedAt'>

const COLUMNS = `id, npm_name, state, version, latest_version, manifest, integrity, failure, declared, host_owner, host_address,
  settings_sealed, created_at, updated_at`

export async function findPlugin(db: Pick<Database, 'query'>, npmName: string): Promise<PluginRow | undefined> {
  const [row] = await db.query<PluginRow>(`select ${COLUMNS} from plugin where npm_name = $1`, [npmName])
  return row
}

/** Those whose files are used. */
export const listEnabledPlugins = (query: Sql): Promise<PluginRow[]> =>
  query<PluginRow>(`select ${COLUMNS} from plugin where state = 'enabled' order by npm_name`)

const ORDERS = {
  name: `regexp_replace(npm_name, '^peertube-(plugin|theme)-', '')`,
  createdAt: 'created_at',
  updatedAt: 'updated_at',
}

export interface PluginListQuery {
  start: number
  count: number
  sort: { by: keyof typeof ORDERS; descending: boolean }
  type?: PluginType | undefined
  uninstalled: boolean
}

/** There are few: they are read whole. */
export async function listPlugins(
  db: Pick<Database, 'query'>,
  { start, count, sort, type, uninstalled }: PluginListQuery,
): Promise<{ total: number; rows: PluginRow[] }> {
  const direction = sort.descending ? 'desc' : 'asc'
  const rows = await db.query<PluginRow>(
    `select ${COLUMNS} from plugin where (state = 'uninstalled') = $1 order by ${ORDERS[sort.by]} ${direction}, id ${direction}`,
    [uninstalled],
  )
  const wanted = rows.filter((row) => type === undefined || typeOf(row.npm_name) === type)
  return { total: wanted.length, rows: wanted.slice(start, start + count) }
}

/** One setting as the plugin declares it: opaque but for these. */
export type RegisteredSetting = Declared['settings'][number]

/** Undefined for an unknown or uninstalled plugin. `settings` are sealed. */
export async function findPluginSettings(
  query: Sql,
  npmName: string,
): Promise<{ id: number; registered: RegisteredSetting[]; sealed: string | null } | undefined> {
  const [row] = await query<Columns<typeof Plugin, 'id'> & { registered: RegisteredSetting[]; sealed: string | null }>(
    `select id, coalesce(declared->'settings', '[]') as registered, settings_sealed as sealed from plugin where npm_name = $1 and state <> 'uninstalled'`,
    [npmName],
  )
  return row
}
