// Finds free names for local actors.

import type { Sql } from '../../platform/database/index.ts'

/** The name, with a number if a local actor has or had it. `longest`: maximum characters including the number. */
export async function freeActorName(query: Sql, name: string, longest = Number.POSITIVE_INFINITY): Promise<string> {
  const start = name.slice(0, longest - LONGEST_NUMBER)
  const rows = await query<{ name: string }>(
    'select lower(preferred_username) as name from actor where host_id is null and starts_with(lower(preferred_username), lower($1))',
    [start],
  )
  const used = new Set(rows.map((row) => row.name))
  let free = name
  for (let number = 1; used.has(free.toLowerCase()); number += 1) {
    const ending = `-${number}`
    free = name.slice(0, longest - ending.length) + ending
  }
  return free
}

/** With its hyphen. */
const LONGEST_NUMBER = 8
