// Refused, delayed, dropped, held and tagged activities, for moderators.

import type { Aliased, Database } from '../../platform/database/index.ts'
import type { Reason, Verdict } from './decision.ts'
import type { InboundDecision } from './inbound-decision.entity.ts'

export type InboundDecisionRow = Aliased<
  typeof InboundDecision,
  'host' | 'kind' | 'count' | 'firstAt' | 'lastAt' | 'activityId' | 'actorUrl' | 'verdict' | 'reason'
>

export interface InboundDecisionsQuery {
  start: number
  count: number
  sort: { column: 'lastAt' | 'count' | 'host'; descending: boolean }
  host?: string | undefined
  reason?: Reason | undefined
  verdict?: Verdict | undefined
}

const SORTED_BY: Record<InboundDecisionsQuery['sort']['column'], string> = {
  lastAt: 'last_at',
  count: 'count',
  host: 'host',
}

/** One page, with the total of all matches. One statement. */
export async function listInboundDecisions(
  { query }: Pick<Database, 'query'>,
  { start, count, sort, host, reason, verdict }: InboundDecisionsQuery,
): Promise<{ total: number; rows: InboundDecisionRow[] }> {
  const [page] = await query<{ total: number; rows: (InboundDecisionRow & { firstAt: string; lastAt: string })[] }>(
    `with matching as (
       select host, verdict, reason, kind, count, first_at as "firstAt", last_at as "lastAt", activity_id as "activityId",
         actor_url as "actorUrl", row_number() over (
           order by ${SORTED_BY[sort.column]} ${sort.descending ? 'desc' : 'asc'}, host, reason, kind) as place
       from inbound_decision
       where ($1::text is null or host = $1) and ($2::text is null or reason = $2) and ($3::text is null or verdict = $3)
     )
     select (select count(*)::int from matching) as total, (
       select coalesce(jsonb_agg(to_jsonb(m) order by m.place), '[]')
       from matching m where m.place > $4 and m.place <= $4 + $5) as rows`,
    [host?.toLowerCase() ?? null, reason ?? null, verdict ?? null, start, count],
  )
  const rows = (page?.rows ?? []).map((row) => ({
    ...row,
    firstAt: new Date(row.firstAt),
    lastAt: new Date(row.lastAt),
  }))
  return { total: page?.total ?? 0, rows }
}
