// Settings of the instance for other nouns and federation: one row per key.

import type { Sql } from '../../platform/database/index.ts'

export const saveSetting = (query: Sql, key: string, value: unknown) =>
  query(
    `insert into setting (key, value, updated_at) values ($1, $2, now())
     on conflict (key) do update set value = excluded.value, updated_at = excluded.updated_at`,
    [key, JSON.stringify(value)],
  )

export const removeSetting = (query: Sql, key: string) => query('delete from setting where key = $1', [key])

/**
 * Lets one process perform a check at `now`, if the last one was before `before`. Returns the time of the last check; undefined if it is
 * not due.
 */
export async function claimLook(
  query: Sql,
  key: string,
  { now, before }: { now: Date; before: Date },
): Promise<{ lastLook: string | null } | undefined> {
  const [row] = await query<{ lastLook: string | null }>(
    `with known as (select value ->> 'lastLook' as look from setting where key = $1),
     taken as (
       insert into setting (key, value, updated_at) values ($1, jsonb_build_object('lastLook', $2::text), $3)
       on conflict (key) do update set value = excluded.value, updated_at = excluded.updated_at
       where setting.updated_at <= $4 returning key
     ) select (select look from known) as "lastLook" from taken`,
    [key, now.toISOString(), now, before],
  )
  return row
}

/** After a failed check: restores the time of the last one. */
export const restoreLook = (query: Sql, key: string, lastLook: string | null) =>
  query("update setting set value = jsonb_build_object('lastLook', $2::text) where key = $1", [key, lastLook])
