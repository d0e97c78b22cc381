// The actor runtime: combines units of work, relay, jobs, lanes and sweeper over one database, queue and bus.

import type { Bus } from '../../platform/bus/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { sha256 } from '../../platform/ids.ts'
import type { Logger } from '../../platform/logger.ts'
import type { LoopWatch } from '../../platform/loop-watch.ts'
import { type Hint, type Queue, type QueueName, queueNames, type WorkHandle } from '../../platform/queue/index.ts'
import type { ChangeObservers } from './change-observer.ts'
import { type Dispatcher, makeDispatcher } from './dispatcher.ts'
import { type JobSettings, makeJobs } from './jobs.ts'
import { makeLanes } from './lanes.ts'
import { leaseOwner, releaseDeadLeases } from './lease.ts'
import { makePause } from './pause.ts'
import { type LaneHandler, makeRegistry } from './registry.ts'
import { makeRelay } from './relay.ts'
import { makeSweeper } from './sweeper.ts'
import { makeTell } from './tell.ts'
import { type Committed, makeRunUnit } from './unit.ts'

export interface RuntimeSettings {
  relayIntervalMs: number
  sweepIntervalMs: number
  laneLeaseMs: number
  lockTimeoutMs: number
  jobs: JobSettings & {
    attempts: (type: string) => number
    /** Default priority of a job type. */
    priority: (type: string) => number
    /** Workers reserved for a type, so that it never waits for other types. */
    ownWorkers: (type: string) => number
  }
  /** Workers per queue in this process that all its types share; 0 for a queue that other processes serve. */
  queueConcurrency: Record<QueueName, number>
}

export type Runtime = ReturnType<typeof makeRuntime>

export function makeRuntime(options: {
  db: Database
  queue: Queue
  bus: Bus
  clock: Clock
  logger: Logger
  settings: () => RuntimeSettings
  observers?: ChangeObservers
  loopWatch?: Pick<LoopWatch, 'run'>
}) {
  const { db, queue, bus, clock, logger, settings, observers, loopWatch } = options
  const named = <T>(name: string, work: () => T): T => (loopWatch ? loopWatch.run(name, work) : work())
  const owner = leaseOwner()
  const registry = makeRegistry()
  const workers = new Map<QueueName, WorkHandle>()
  // Sooner than their leases expire: a live stream waits for its encoder.
  registry.periodic('dead-leases', {
    everyMs: () => DEAD_LEASES_EVERY_MS,
    everywhere: true,
    run: async () => void (await releaseDeadLeases(db)),
  })

  const runUnit = makeRunUnit({
    db,
    clock,
    lockTimeoutMs: () => settings().lockTimeoutMs,
    jobSettings: (type) => {
      const { attempts, priority } = settings().jobs
      return { queue: queueOfJob(type), attempts: attempts(type), priority: priority(type) }
    },
    afterCommit: ring,
    observers,
  })
  const relay = makeRelay({ db, runUnit, registry, clock, logger, intervalMs: () => settings().relayIntervalMs })
  const pause = makePause({ db, bus, logger, onResume: () => void sweeper.ring() })
  const jobs = makeJobs({
    db,
    registry,
    clock,
    logger,
    owner,
    settings: () => settings().jobs,
    isPaused: pause.isPaused,
  })
  const lanes = makeLanes({ db, registry, clock, logger, owner, leaseMs: () => settings().laneLeaseMs, pause })
  const sweeper = makeSweeper({
    db,
    registry,
    clock,
    logger,
    jobs,
    lanes,
    pause,
    owner,
    intervalMs: () => settings().sweepIntervalMs,
    hintJob: (type) => queue.hint(queueOfJob(type), { name: type, id: `sweep-${type}`, data: {} }),
    hintLane: (kind, key) => hintLane(kind, key),
  })

  function queueOfJob(type: string): QueueName {
    const handler = registry.jobs.get(type)
    if (!handler) throw new Error(`No handler for jobs of type ${type}.`)
    return handler.queue
  }

  function queueOfLane(kind: string): QueueName {
    const handler = registry.lanes.get(kind)
    if (!handler) throw new Error(`No handler for lanes of kind ${kind}.`)
    return handler.queue
  }

  function workersOf(queue: QueueName): number {
    const { queueConcurrency, jobs: jobSettings } = settings()
    const shared = queueConcurrency[queue]
    if (shared === 0) return 0
    const types = [...registry.jobs].filter(([, handler]) => handler.queue === queue)
    return types.reduce((sum, [type]) => sum + jobSettings.ownWorkers(type), shared)
  }

  /** For the kinds of lanes that this process drains. */
  const dispatchers = new Map<string, Dispatcher>()

  function dispatch(kind: string, handler: LaneHandler, concurrency: () => number): void {
    const dispatcher = makeDispatcher({
      concurrency: handler.concurrency ?? concurrency,
      patience: handler.patience ?? (() => NO_PATIENCE),
      work: async (key, slot) => {
        try {
          await named(`lane ${kind}`, () => lanes.work(kind, key, slot))
        } catch (error) {
          logger.error({ err: error, lane: kind, key }, 'a lane could not be worked; the sweeper will see to it')
        }
      },
    })
    dispatchers.set(kind, dispatcher)
  }

  // Direct, if this process drains the lane itself. Otherwise with one id per lane, so that waiting hints are merged.
  const hintLane = async (kind: string, key: string): Promise<void> => {
    const own = dispatchers.get(kind)
    if (own) {
      void own.run(key)
      return
    }
    const id = `${kind}-${sha256(key).toString('hex')}`
    await queue.hint(queueOfLane(kind), { name: LANE, id, data: { kind, key } })
  }

  /** Runs after a commit. Hints may be lost: the relay polls, and the sweeper checks jobs and lanes. */
  function ring(committed: Committed): void {
    if (committed.events > 0) relay.wake()
    for (const job of committed.jobs) {
      silently(queue.hint(queueOfJob(job.type), { name: job.type, id: `${job.type}-${job.id}`, data: {} }))
    }
    for (const { kind, key } of committed.lanes) silently(hintLane(kind, key))
    for (const { topic, payload } of committed.publications) silently(bus.publish(topic, payload))
  }

  const silently = (bell: Promise<void>): void => {
    bell.catch((error) => logger.warn({ err: error }, 'a bell was not heard; the sweeper will see to it'))
  }

  async function handle(hint: Hint): Promise<void> {
    if (hint.name === LANE) await dispatchers.get(String(hint.data.kind))?.run(String(hint.data.key))
    else await named(`job ${hint.name}`, () => jobs.work(hint.name))
  }

  return {
    tell: makeTell(runUnit),
    registry,
    relay,
    sweeper,
    /** Resumes what a crash left, then works. */
    async start(): Promise<void> {
      const gone = await releaseDeadLeases(db)
      if (gone > 0) logger.warn({ processes: gone }, 'took over the work of processes that died')
      await pause.start()
      for (const [kind, handler] of registry.lanes) {
        const lanesAtOnce = () => settings().queueConcurrency[handler.queue]
        if (lanesAtOnce() > 0) dispatch(kind, handler, lanesAtOnce)
      }
      for (const name of queueNames) {
        const concurrency = workersOf(name)
        if (concurrency > 0) workers.set(name, await queue.work(name, { concurrency }, handle))
      }
      relay.start()
      await sweeper.start(FIRST_LOOK_MS)
    },
    /** Applies the configured concurrency to the workers. */
    adapt(): void {
      for (const [name, worker] of workers) worker.setConcurrency(workersOf(name))
    },
    /** Stops claiming, waits for running work, interrupts it after the grace period. */
    async stop(graceMs: number): Promise<void> {
      pause.stop()
      for (const dispatcher of dispatchers.values()) dispatcher.stop()
      await Promise.all([sweeper.stop(graceMs), relay.stop(), jobs.stop(graceMs), lanes.stop(graceMs)])
      await Promise.all([...workers.values()].map((worker) => worker.close({ drainMs: graceMs })))
    },
  }
}

const LANE = 'lane'
/** Periodic work that is due after a long downtime must not delay the start. */
const FIRST_LOOK_MS = 3_000
const DEAD_LEASES_EVERY_MS = 5_000
const NO_PATIENCE = { ms: 60_000, atMost: 0 }
