// What plugins store: one JSON value by key.

import type { Sql } from '../../platform/database/index.ts'
import { type ActorDeps, DomainError } from '../runtime/index.ts'

/** Characters of a value, and keys of one plugin. */
const LONGEST = 256 * 1024
const MOST_KEYS = 1000

/** Null if nothing is stored. */
export async function findData(query: Sql, pluginId: number, key: string): Promise<unknown> {
  const [row] = await query<{ value: unknown }>('select value from plugin_data where plugin_id = $1 and key = $2', [pluginId, key])
  return row?.value ?? null
}

/** Throws `too_large`. */
export async function storeData({ tell }: Pick<ActorDeps, 'tell'>, pluginId: number, key: string, value: unknown): Promise<void> {
  const text = JSON.stringify(value ?? null)
  if (text.length > LONGEST) throw new DomainError('too_large', 'A stored value has at most 256 KiB.')
  await tell({ aggregate: 'plugin', id: pluginId }, async (unit) => {
    const stored = await unit.query(
      `insert into plugin_data (plugin_id, key, value, updated_at)
       select $1, $2, $3::jsonb, $4
       where (select count(*) from plugin_data where plugin_id = $1 and key <> $2) < ${MOST_KEYS}
       on conflict (plugin_id, key) do update set value = excluded.value, updated_at = excluded.updated_at returning key`,
      [pluginId, key, text, unit.now],
    )
    if (stored.length === 0) throw new DomainError('too_large', `A plugin stores at most ${MOST_KEYS} values.`)
  })
}
