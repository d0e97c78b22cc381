// Writes of remote hosts by other nouns and by federation.

import type { Sql } from '../../platform/database/index.ts'
import type { Unit } from '../runtime/index.ts'

const HOSTS_AT_ONCE = 100

/** Some hosts whose software was not checked since `before`; marked as checked. */
export const claimUncheckedHosts = (unit: Unit, before: Date): Promise<{ id: number }[]> =>
  unit.query<{ id: number }>(
    `update remote_host set software_checked_at = $1 where id in (
       select id from remote_host
       where (software_checked_at is null or software_checked_at <= $2) and state <> 'dormant'
       order by software_checked_at nulls first, id limit ${HOSTS_AT_ONCE} for no key update skip locked
     ) returning id`,
    [unit.now, before],
  )

export const noteSoftware = (query: Sql, host: string, { software, version }: { software: string; version: string }) =>
  query('update remote_host set software = $2, software_version = $3 where host = $1', [host.toLowerCase(), software, version])

/** Returns the previous row of the host; undefined if it is unknown. */
export async function allowRedundancy(unit: Unit, host: string, isAllowed: boolean): Promise<{ id: number; was: boolean } | undefined> {
  const [known] = await unit.query<{ id: number; was: boolean }>(
    `update remote_host h set redundancy_allowed = $2, updated_at = $3
     from (select id, redundancy_allowed as was from remote_host where host = lower($1) for no key update) old
     where h.id = old.id returning h.id, old.was`,
    [host, isAllowed, unit.now],
  )
  return known
}

export const disallowRedundancy = (unit: Unit, hostIds: number[]) =>
  unit.query('update remote_host set redundancy_allowed = false, updated_at = $2 where id = any($1) and redundancy_allowed', [
    hostIds,
    unit.now,
  ])
