// The relay. It claims outbox rows, runs their reactions and deletes the rows in one transaction, oldest first per aggregate, so that no
// event is lost, doubled or overtaken. It takes a batch with one event per aggregate; consecutive events of one name share the statements
// of their reactions. If one of a batch fails, each is relayed alone.

import type { Clock } from '../../platform/clock.ts'
import type { Columns, Database } from '../../platform/database/index.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Registry } from './registry.ts'
import type { Outbox } from './runtime.entity.ts'
import type { RunUnit, Unit } from './unit.ts'

interface OutboxRow extends Columns<typeof Outbox, 'id' | 'event' | 'payload'> {
  /** When the oldest event of its aggregate is due; null if this is the oldest. */
  olderDueAt: Date | null
}

// Not by a cursor: rows committed late would be skipped. By an index and a few rows only, even while the statistics of the table come from
// quiet times.
const CLAIM = `
  with claimed as materialized (
    select o.id, o.aggregate, o.aggregate_id, o.event, o.payload from outbox o
    where o.parked_at is null and o.due_at <= $1 order by o.id limit $2 for update of o skip locked
  )
  select c.id, c.event, c.payload, (
    select e.due_at from outbox e
    where e.aggregate = c.aggregate and e.aggregate_id = c.aggregate_id and e.parked_at is null and e.id < c.id
    order by e.id limit 1
  ) as "olderDueAt"
  from claimed c order by c.id`

/** Usually there is nothing, which needs no transaction to find out. */
const LOOK = 'select from outbox where parked_at is null and due_at <= $1 limit 1'

const TOGETHER = 30
/** Rows to look at per relayed event: several may belong to one aggregate. */
const WINDOW = 5
const FAILURES_BEFORE_PARKING = 20

export function makeRelay(options: {
  db: Database
  runUnit: RunUnit
  registry: Registry
  clock: Clock
  logger: Logger
  intervalMs: () => number
}) {
  const { db, runUnit, registry, clock, logger } = options
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let again = false
  let stopped = true

  /** Looks at once; concurrent calls share one look. */
  function wake(): void {
    if (stopped) return
    if (running) again = true
    else run(true)
  }

  function run(isCalled: boolean): void {
    clearTimeout(timer)
    running = drain(isCalled)
      .catch((error) => logger.error({ err: error }, 'the relay could not read the outbox'))
      .finally(() => {
        running = undefined
        if (stopped) return
        if (again) {
          again = false
          run(true)
        } else {
          timer = setTimeout(run, options.intervalMs(), false)
        }
      })
  }

  /** A caller that was notified knows that there is something. */
  async function drain(isCalled: boolean): Promise<void> {
    let alone = 0
    for (let isDue = isCalled; ; isDue = false) {
      if (!isDue && (await db.query(LOOK, [clock.now()])).length === 0) return
      const carried = await carryOn(alone > 0 ? 1 : TOGETHER)
      if (carried === 'failed') alone = TOGETHER
      else if (alone > 0) alone -= 1
      if (carried === 'nothing' || (stopped && running)) return
    }
  }

  /** Relays at most `most` events in one transaction. `failed`: one of several failed, and none is relayed. */
  async function carryOn(most: number): Promise<'nothing' | 'carried' | 'failed'> {
    let claimed: OutboxRow[] = []
    try {
      return await runUnit(async (unit) => {
        const window = most === 1 ? 1 : most * WINDOW
        const rows = await unit.query<OutboxRow>(CLAIM, [unit.now, window])
        claimed = rows.filter(({ olderDueAt }) => olderDueAt === null).slice(0, most)
        const moved = await waitForOlder(unit, rows)
        if (claimed.length === 0) return moved > 0 ? 'carried' : 'nothing'
        for (const { event, payloads } of inRuns(claimed)) {
          if (!registry.knows(event)) throw new Error(`${event} is no event of this version: a newer one carries it on.`)
          for (const { react } of registry.reactions(event)) await react(payloads, unit)
        }
        await unit.query('delete from outbox where id = any($1)', [claimed.map(({ id }) => id)])
        return 'carried'
      })
    } catch (error) {
      const [row] = claimed
      if (!row) throw error
      if (claimed.length > 1) return 'failed'
      await postpone(row, error)
      return 'carried'
    }
  }

  /** Later events of an aggregate wait as long as the failed one, and do not delay others. */
  async function waitForOlder({ query, now }: Unit, rows: OutboxRow[]): Promise<number> {
    const moved = rows.filter(({ olderDueAt }) => olderDueAt !== null && olderDueAt > now)
    if (moved.length === 0) return 0
    await query(
      `update outbox set due_at = m.due_at from unnest((select $1::bigint[]), (select $2::timestamptz[])) as m (id, due_at)
       where outbox.id = m.id`,
      [moved.map(({ id }) => id), moved.map(({ olderDueAt }) => olderDueAt)],
    )
    return moved.length
  }

  async function postpone(row: OutboxRow, error: unknown): Promise<void> {
    logger.error({ err: error, event: row.event, outbox: row.id }, 'an event could not be carried on')
    await db.query(
      `update outbox set failures = failures + 1, error = $2,
         due_at = $3::timestamptz + least(interval '1 second' * 2 ^ failures, interval '10 minutes'),
         parked_at = case when failures + 1 >= $4 then $3::timestamptz end
       where id = $1`,
      [row.id, String(error).slice(0, 1000), clock.now(), FAILURES_BEFORE_PARKING],
    )
  }

  return {
    wake,
    /** Relays everything that is due, for tests and shutdown. */
    drain(): Promise<void> {
      return drain(true)
    },
    start(): void {
      stopped = false
      wake()
    },
    /** Stops after the current event. */
    async stop(): Promise<void> {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}

/** Groups consecutive events of one name; the order stays. */
function inRuns(rows: readonly OutboxRow[]): { event: string; payloads: unknown[] }[] {
  const runs: { event: string; payloads: unknown[] }[] = []
  for (const { event, payload } of rows) {
    const last = runs.at(-1)
    if (last?.event === event) last.payloads.push(payload)
    else runs.push({ event, payloads: [payload] })
  }
  return runs
}
