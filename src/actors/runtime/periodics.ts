// Periodic work, once for the whole server: the first process that finds a task due leases its row, renews the lease, and stores the next
// due time at the end. If a process dies, another one takes the task over.

import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { underLease } from './lease.ts'
import type { PeriodicTask } from './registry.ts'

/** Lease of a task without a heartbeat. A task with a shorter interval is due again anyway. */
const LEASE_MS = 30_000

// A shortened interval counts from the last run. A start in the future was recorded by a wrong clock and is ignored.
const CLAIM = `
  insert into periodic_task as t (name, due_at, every_ms, started_at, owner)
  select c.name, $1::timestamptz + least(c.every, ${LEASE_MS}) * interval '1 ms', c.every, $1, $2
  from unnest((select $3::text[]), (select $4::bigint[])) as c (name, every) order by c.name
  on conflict (name) do update set due_at = excluded.due_at, every_ms = excluded.every_ms,
    started_at = excluded.started_at, owner = excluded.owner
  where t.due_at <= $1 or t.started_at > $1::timestamptz + interval '1 minute'
    or t.owner is null and t.started_at + excluded.every_ms * interval '1 ms' <= $1
  returning name`

export function makePeriodics(options: { db: Database; clock: Clock; owner: string }) {
  const { db, clock, owner } = options
  /** When to check a task, as known to this process. If another process has it: soon, in case that one dies. */
  const lookAt = new Map<string, { at: number; every: number }>()

  const isDue = (name: string, every: number): boolean => {
    const known = lookAt.get(name)
    if (!known || known.every !== every) return true
    const now = clock.now().getTime()
    // Too far in the future: the clock was set back.
    return known.at <= now || known.at > now + every
  }

  async function claim(tasks: { name: string; every: number }[]): Promise<Set<string>> {
    const now = clock.now()
    const rows = await db.query<{ name: string }>(CLAIM, [now, owner, tasks.map(({ name }) => name), tasks.map(({ every }) => every)])
    for (const { name, every } of tasks) {
      lookAt.set(name, { at: now.getTime() + Math.min(every, LEASE_MS), every })
    }
    return new Set(rows.map(({ name }) => name))
  }

  async function runLeased(name: string, task: PeriodicTask, every: number): Promise<void> {
    const startedAt = clock.now().getTime()
    const setDue = async (dueAt: Date, isOver: boolean): Promise<boolean> => {
      const rows = await db.query(
        'update periodic_task set due_at = $3, owner = case when $4 then null else owner end where name = $1 and owner = $2 returning name',
        [name, owner, dueAt, isOver],
      )
      return rows.length > 0
    }
    try {
      await underLease({
        leaseMs: LEASE_MS,
        renew: () => setDue(new Date(clock.now().getTime() + LEASE_MS), false),
        signals: [],
        work: () => task.run(),
      })
    } finally {
      // Also after a failure: it is repeated when it is due, not at once.
      await setDue(new Date(startedAt + every), true)
      lookAt.set(name, { at: startedAt + every, every })
    }
  }

  return {
    /** Runs the tasks that are due and that no other process has. `guard` isolates their failures. */
    async run(tasks: ReadonlyMap<string, PeriodicTask>, guard: (name: string, run: () => Promise<void>) => Promise<void>): Promise<void> {
      const due = [...tasks].flatMap(([name, task]) => {
        const every = Math.round(task.everyMs())
        return isDue(name, every) ? [{ name, task, every }] : []
      })
      for (const { name, task, every } of due.filter((one) => one.task.everywhere)) {
        lookAt.set(name, { at: clock.now().getTime() + every, every })
        await guard(name, () => task.run())
      }
      const shared = due.filter(({ task }) => !task.everywhere)
      const short = shared.filter(({ every }) => every <= LEASE_MS)
      const claimed = short.length > 0 ? await claim(short) : new Set<string>()
      for (const { name, task } of short) if (claimed.has(name)) await guard(name, () => task.run())
      // One by one, so that another process may take the next one during a long task.
      for (const { name, task, every } of shared.filter((one) => one.every > LEASE_MS)) {
        await guard(name, async () => {
          if ((await claim([{ name, every }])).has(name)) await runLeased(name, task, every)
        })
      }
    },
  }
}
