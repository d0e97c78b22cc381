// The log of decisions about incoming activities: a log line per decision, and for moderators one row per host, reason and kind, with a
// count. Each process sums up and stores periodically, so that a flood writes as little as a trickle.

import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Registry } from '../runtime/index.ts'
import type { NotedDecision } from './decision.ts'

interface Sum extends NotedDecision {
  count: number
  firstAt: Date
  lastAt: Date
}

const FLUSH_EVERY_MS = 2_000
const TIDY_EVERY_MS = 3_600_000
/** Maximum sums between two rounds; others are counted without a name. */
const MAX_SUMS = 2_000
const KIND = 50
const ADDRESS = 2000

export type InboundJournal = ReturnType<typeof makeInboundJournal>

export function makeInboundJournal(deps: {
  db: Pick<Database, 'query'>
  registry: Pick<Registry, 'periodic'>
  clock: Clock
  logger: Logger
  config: () => Config
}) {
  const { db, registry, clock, logger, config } = deps
  let sums = new Map<string, Sum>()

  /** Stores the sums of this process. */
  async function flush(): Promise<void> {
    if (sums.size === 0) return
    const noted = [...sums.values()]
    sums = new Map()
    for (const { count, verdict, reason, kind, host } of noted) {
      if (count > 1) logger.info({ verdict, reason, kind, host, count }, 'what others sent was not taken as it is')
    }
    try {
      await store(noted)
    } catch (error) {
      logger.warn({ err: error }, 'decisions about what others sent could not be counted')
    }
  }

  /** Anybody may claim any host: only known or blocked ones have rows of their own. */
  async function store(noted: Sum[]): Promise<void> {
    await db.query(
      `insert into inbound_decision as d (host, reason, kind, verdict, count, first_at, last_at, activity_id, actor_url)
       select n.host, n.reason, n.kind, min(n.verdict), sum(n.count), min(n.first_at), max(n.last_at),
         (array_agg(n.activity_id order by n.last_at desc))[1], (array_agg(n.actor_url order by n.last_at desc))[1]
       from (
         select case when exists (select 1 from remote_host h where h.host = s.host)
             or exists (select 1 from server_block b where b.host = s.host) then s.host else '' end as host,
           s.reason, s.kind, s.verdict, s.count, s.first_at, s.last_at, s.activity_id, s.actor_url
         from unnest((select $1::text[]), (select $2::text[]), (select $3::text[]), (select $4::text[]), (select $5::bigint[]), (select $6::timestamptz[]), (select $7::timestamptz[]),
           (select $8::text[]), (select $9::text[])) as s (host, reason, kind, verdict, count, first_at, last_at, activity_id, actor_url)
       ) as n
       group by n.host, n.reason, n.kind order by 1, 2, 3
       on conflict (host, reason, kind) do update set verdict = excluded.verdict, count = d.count + excluded.count,
         last_at = greatest(d.last_at, excluded.last_at),
         activity_id = coalesce(excluded.activity_id, d.activity_id), actor_url = coalesce(excluded.actor_url, d.actor_url)`,
      [
        noted.map(({ host }) => host),
        noted.map(({ reason }) => reason),
        noted.map(({ kind }) => kind),
        noted.map(({ verdict }) => verdict),
        noted.map(({ count }) => count),
        noted.map(({ firstAt }) => firstAt),
        noted.map(({ lastAt }) => lastAt),
        noted.map(({ activityId }) => activityId),
        noted.map(({ actorUrl }) => actorUrl),
      ],
    )
  }

  registry.periodic('count-inbound-decisions', { everyMs: () => FLUSH_EVERY_MS, everywhere: true, run: flush })
  registry.periodic('old-inbound-decisions', {
    everyMs: () => TIDY_EVERY_MS,
    async run() {
      const before = new Date(clock.now().getTime() - config().vireo.federation.inbox.keep_decisions)
      await db.query('delete from inbound_decision where last_at < $1', [before])
    },
  })

  return {
    /** Never waits, and never fails. */
    note(decision: NotedDecision): void {
      const { verdict, reason, activityId, actorUrl } = decision
      const kind = decision.kind.slice(0, KIND)
      const known = sumOf(decision.host.toLowerCase(), reason, kind)
      const details = { verdict, reason, kind, host: decision.host, actor: actorUrl, activity: activityId }
      // The first of a kind is logged at once, later ones are summed up.
      if (known.count === 0) logger.info(details, 'what another server sent was not taken as it is')
      else logger.debug(details, 'what another server sent was not taken as it is')
      Object.assign(known, {
        verdict,
        count: known.count + 1,
        lastAt: clock.now(),
        activityId: storable(activityId) ?? known.activityId,
        actorUrl: storable(actorUrl) ?? known.actorUrl,
      })
    },
    flush,
  }

  function sumOf(host: string, reason: NotedDecision['reason'], kind: string): Sum {
    const key = `${reason} ${kind} ${host}`
    const known = sums.get(key)
    if (known) return known
    if (sums.size >= MAX_SUMS && host !== '') return sumOf('', reason, kind)
    const now = clock.now()
    const fresh: Sum = {
      verdict: 'refuse',
      reason,
      kind,
      host,
      actorUrl: null,
      activityId: null,
      count: 0,
      firstAt: now,
      lastAt: now,
    }
    sums.set(key, fresh)
    return fresh
  }
}

const storable = (address: string | null): string | null =>
  address === null || address.length > ADDRESS || address.includes('\0') ? null : address
