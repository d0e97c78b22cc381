// Other servers for the operator: reachability, waiting deliveries, and errors.

import { type Aliased, containing, type Database } from '../../platform/database/index.ts'
import type { RemoteHostState } from '../../state-machines/remote-host.ts'
import type { RemoteHost } from './remote-host.entity.ts'

export interface PeerRow
  extends Aliased<RemoteHost, 'id' | 'host' | 'software' | 'softwareVersion' | 'signatureProfile' | 'unsupportedTypes' | 'dueAt' | 'state'>,
    Aliased<RemoteHost, 'lastSuccessAt' | 'lastErrorAt' | 'lastError' | 'createdAt'> {
  /** Creation of the oldest waiting delivery. */
  waitingSince: Date | null
  waitingDeliveries: number
  parkedDeliveries: number
  parkedActivities: number
}

/** Limit of counts, so that the list stays fast with a huge backlog. */
const MOST_COUNTED = 1000
const MAX_LOOKED_AT = 2_000_000

export interface PeerListQuery {
  start: number
  count: number
  sort: { column: 'host' | 'createdAt' | 'lag' | 'waitingDeliveries' | 'lastSuccessAt'; descending: boolean }
  search?: string | undefined
  state?: RemoteHostState | undefined
}

const SINCE = `(select d.created_at from delivery d where d.host_id = h.id and d.state = 'waiting' order by d.id limit 1)`
const WAITING = counted("delivery d where d.host_id = h.id and d.state = 'waiting'")

const BACKLOGS = `select host_id, count(*) as waiting
  from (select host_id from delivery where state = 'waiting' limit ${MAX_LOOKED_AT}) as first group by host_id`

const SORTED_BY: Record<PeerListQuery['sort']['column'], string> = {
  host: 'h.host',
  createdAt: 'h.created_at',
  // The longer one waits, the greater the lag.
  lag: `extract(epoch from now() - ${SINCE})`,
  waitingDeliveries: 'coalesce(b.waiting, 0)',
  lastSuccessAt: 'h.last_success_at',
}

/** One page of the known servers, with the total of all matches. Only shown counts are computed, by indexes. */
export async function listPeers(db: Database, query: PeerListQuery): Promise<{ total: number; rows: PeerRow[] }> {
  const direction = query.sort.descending ? 'desc nulls last' : 'asc nulls first'
  const values = [query.state ?? null, query.search ? containing(query.search) : null]
  const matching = 'where ($1::text is null or h.state = $1) and ($2::text is null or h.host ilike $2)'
  const [count] = await db.query<{ total: number }>(`select count(*) as total from remote_host h ${matching}`, values)
  // Only this order needs all waiting deliveries; one scan is much cheaper than one per server.
  const backlog = query.sort.column === 'waitingDeliveries' ? `left join (${BACKLOGS}) b on b.host_id = h.id` : ''
  const rows = await db.query<PeerRow>(
    `with page as materialized (
       select h.*, row_number() over (order by ${SORTED_BY[query.sort.column]} ${direction}, h.id) as place
       from remote_host h ${backlog} ${matching} order by place limit $3 offset $4
     )
     select h.id, h.host, h.state, h.software, h.software_version as "softwareVersion",
       h.signature_profile as "signatureProfile", h.unsupported_types as "unsupportedTypes", h.due_at as "dueAt",
       h.last_success_at as "lastSuccessAt", h.last_error_at as "lastErrorAt", h.last_error as "lastError",
       ${SINCE} as "waitingSince", ${WAITING} as "waitingDeliveries", h.created_at as "createdAt",
       ${counted("delivery d where d.host_id = h.id and d.state = 'parked'")} as "parkedDeliveries",
       ${counted("incoming_activity i where i.host = h.host and i.state = 'parked'")} as "parkedActivities"
     from page h order by h.place`,
    [...values, query.count, query.start],
  )
  return { total: count?.total ?? 0, rows }
}

function counted(from: string): string {
  return `(select count(*) from (select 1 from ${from} limit ${MOST_COUNTED}) as first)`
}
