// The sweeper: checks once a second for work whose hint was lost. It rebuilds the queue from the tables, takes over what dead processes had
// leased, sends TIMED_OUT to machines and runs the periodic tasks.

import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Logger } from '../../platform/logger.ts'
import { DomainError } from './domain-error.ts'
import type { Jobs } from './jobs.ts'
import type { Lanes } from './lanes.ts'
import type { Pause } from './pause.ts'
import { makePeriodics } from './periodics.ts'
import { dueSql, type Registry, type TimeoutHandler } from './registry.ts'

const LANES_AT_ONCE = 1000

export function makeSweeper(options: {
  db: Database
  registry: Registry
  clock: Clock
  logger: Logger
  jobs: Jobs
  lanes: Lanes
  pause: Pick<Pause, 'isPaused' | 'look'>
  owner: string
  intervalMs: () => number
  hintJob: (type: string) => Promise<void>
  hintLane: (kind: string, key: string) => Promise<void>
}) {
  const { db, registry, clock, logger, pause } = options
  const periodics = makePeriodics(options)
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let stopped = true
  let isEnding = false

  /** One whole run, for tests. */
  async function sweep(): Promise<void> {
    await guard('pause', pause.look)
    await ring()
    await guard('time-outs', timeOutAll)
    await guard('periodic tasks', () => periodics.run(registry.periodics, guard))
  }

  /** Sends hints for the jobs and lanes that are due. */
  async function ring(): Promise<void> {
    await guard('jobs', async () => {
      const types = await options.jobs.recover()
      if (!pause.isPaused()) for (const type of types) await options.hintJob(type)
    })
    await guard('lanes', async () => {
      if (pause.isPaused()) return
      for (const { kind, key } of await options.lanes.due(LANES_AT_ONCE)) await options.hintLane(kind, key)
    })
  }

  /** Checks all nouns with one statement: usually nothing is due. */
  async function timeOutAll(): Promise<void> {
    const nouns = [...registry.timeouts]
    if (nouns.length === 0) return
    const looks = nouns.map(([, handler], place) => `select ${place} as place, id from (${dueSql(handler)}) as due_${place}`)
    const due = await db.query<{ place: number; id: number }>(looks.join(' union all '), [clock.now()])
    for (const [place, [noun, handler]] of nouns.entries()) {
      const ids = due.filter((row) => row.place === place).map(({ id }) => id)
      if (ids.length > 0) await guard(noun, () => tell(noun, handler, ids))
    }
  }

  async function timeOut(noun: string, handler: TimeoutHandler): Promise<void> {
    const due = await db.query<{ id: number }>(dueSql(handler), [clock.now()])
    await tell(
      noun,
      handler,
      due.map(({ id }) => id),
    )
  }

  async function tell(noun: string, { timedOut }: TimeoutHandler, ids: number[]): Promise<void> {
    for (const id of ids) {
      try {
        await timedOut(id)
      } catch (error) {
        // Another process was faster, or the row is deleted.
        if (!(error instanceof DomainError)) logger.error({ err: error, noun, id }, 'a time-out could not be handled')
      }
    }
  }

  async function guard(what: string, work: () => Promise<void>): Promise<void> {
    if (isEnding) return
    try {
      await work()
    } catch (error) {
      logger.error({ err: error, what }, 'the sweeper failed')
    }
  }

  function look(): void {
    running = sweep().finally(() => {
      if (!stopped) timer = setTimeout(look, options.intervalMs())
    })
  }

  /** Returns true if the run is still going on. */
  async function lookGoesOn(patienceMs: number): Promise<boolean> {
    const patience = new AbortController()
    const goesOn = await Promise.race([running.then(() => false), wait(patienceMs, true, { signal: patience.signal }).catch(() => false)])
    patience.abort()
    return goesOn
  }

  return {
    sweep,
    ring,
    /** Runs the due timeouts and the periodic work of these names now. Throws for an unknown name. */
    async run(names: readonly string[]): Promise<void> {
      for (const name of names) {
        const timeout = registry.timeouts.get(name)
        const task = registry.periodics.get(name)
        if (!timeout && !task) throw new Error(`Nothing is known as ${name}.`)
        if (timeout) await timeOut(name, timeout)
        await task?.run()
      }
    },
    /** Begins at once, and waits for the first run for at most this long, in ms. */
    async start(patienceMs: number): Promise<void> {
      stopped = false
      look()
      if (await lookGoesOn(patienceMs)) logger.info('the first run of the sweeper continues in the background')
    },
    /** Waits for the current run, at most `graceMs`: unfinished periodic work is done when it is due again. */
    async stop(graceMs: number): Promise<void> {
      stopped = true
      isEnding = true
      clearTimeout(timer)
      if (await lookGoesOn(graceMs)) logger.warn('the sweeper is let go in the middle of its work')
    },
  }
}
