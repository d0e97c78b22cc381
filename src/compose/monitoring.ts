// Monitoring of a running process: the listener for its health and metrics, and the metrics in addition to those of requests and players.

import { type Backlog, readBacklog } from '../actors/backlog/index.ts'
import type { Registry } from '../actors/runtime/index.ts'
import type { Config } from '../config/index.ts'
import { type Figures, listenBeside } from '../http/health/listener.ts'
import type { Listening } from '../http/server.ts'
import { makeCachedReading, type Reading } from '../platform/cached-reading.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/database/index.ts'
import type { Health } from '../platform/health.ts'
import type { Logger } from '../platform/logger.ts'
import { prefetch } from '../platform/prefetch.ts'
import type { Redis } from '../platform/redis.ts'
import { makeTelemetry, type Sample, type Telemetry } from '../platform/telemetry.ts'
import type { Role } from '../runtime-settings.ts'
import { VERSION } from '../version.ts'

/** Maximum age of metrics from the database, and how long they are shown during an outage. */
const BACKLOG_FRESH_MS = 5000
const BACKLOG_KEPT_MS = 300_000

/** Rendering takes milliseconds of processor time, and more while ffmpeg uses the processors. */
const FIGURES_EVERY_MS = 1000
/** Prometheus scrapes several times a minute. */
const FIGURES_WANTED_MS = 120_000

export interface Watched {
  /** Undefined without metrics. */
  telemetry: Telemetry | undefined
  /** Address of the metrics, or of `/health` alone; null if not configured. */
  exporter: Listening | null
  healthListener: Listening | null
}

export const UNWATCHED: Watched = { telemetry: undefined, exporter: null, healthListener: null }

/** Opens the configured listeners. Throws ListenError if an address cannot be used. */
export async function openMonitoring(
  { config, health, logger }: { config: Config; health: Health; logger: Logger },
  closers: (() => Promise<void>)[],
): Promise<Watched> {
  const { metrics } = config.open_telemetry
  const telemetry = metrics.enabled ? await makeTelemetry() : undefined
  const open = async (section: string, where: { hostname: string; port: number }, shown: Telemetry | undefined) => {
    const keys = { hostname: `${section}.hostname`, port: `${section}.port` }
    const figures = shown && figuresOf(shown)
    const listening = await listenBeside({ ...where, keys, health, figures })
    closers.push(() => listening.close())
    if (figures) closers.push(async () => figures.stop())
    const { hostname, port } = listening
    logger.info({ hostname, port }, shown ? 'metrics are served' : 'health is served')
    return listening
  }
  const { hostname, port } = config.vireo.health
  return {
    telemetry,
    exporter: telemetry ? await open('open_telemetry.metrics.prometheus_exporter', metrics.prometheus_exporter, telemetry) : null,
    healthListener: port === null ? null : await open('vireo.health', { hostname, port }, undefined),
  }
}

function figuresOf(telemetry: Telemetry): Figures & { stop(): void } {
  const text = prefetch({ make: telemetry.text, everyMs: FIGURES_EVERY_MS, wantedMs: FIGURES_WANTED_MS })
  return { contentType: telemetry.contentType, text: text.get, stop: text.stop }
}

/** What readiness requires or reports in addition to a finished start. */
export function watchParts(health: Health, parts: { db: Database; redis: Redis | undefined }): void {
  const { db, redis } = parts
  health.add('database', { look: () => db.query('select 1'), seenAt: db.answeredAt })
  // All processes share one Redis: if they became unready without it, nobody would serve what works without it.
  if (redis) health.add('redis', { look: () => redis.ping(), isDispensable: true })
}

export function registerFigures(
  telemetry: Telemetry,
  parts: {
    db: Database
    registry: Pick<Registry, 'jobs'>
    health: Health
    clock: Clock
    logger: Logger
    roles: readonly Role[]
  },
): void {
  const { db, registry, health, clock, logger, roles } = parts
  const one = (value: number): Sample<never>[] => [{ labels: {}, value }]

  telemetry.gauge({
    name: 'vireo_build_info',
    help: 'The version of this process, and the roles that it plays; always 1',
    labels: ['version', 'roles'],
    read: () => [{ labels: { version: VERSION, roles: roles.join(',') }, value: 1 }],
  })
  telemetry.gauge({
    name: 'vireo_ready',
    help: 'Whether this process is ready for requests',
    labels: [],
    read: async () => one(Number((await health.readiness()).ready)),
  })
  telemetry.gauge({
    name: 'vireo_part_up',
    help: 'Whether the services that this process needs respond',
    labels: ['part'],
    read: async () =>
      Object.entries((await health.readiness()).parts).map(([part, state]) => ({
        labels: { part },
        value: Number(state === 'up'),
      })),
  })
  telemetry.gauge({
    name: 'vireo_database_connections',
    help: 'Connections of this process to the database, and who waits for one',
    labels: ['state'],
    read() {
      const { open, idle, waiting, most } = db.connections()
      return countsBy('state', { idle, used: open - idle, waiting, most })
    },
  })
  registerBacklog(telemetry, {
    queueOf: (type) => registry.jobs.get(type)?.queue ?? 'unknown',
    read: makeCachedReading({
      read: () => readBacklog(db, clock.now()),
      freshMs: BACKLOG_FRESH_MS,
      keptMs: BACKLOG_KEPT_MS,
      failed: (error) => logger.debug({ err: error }, 'the backlog could not be counted'),
    }),
  })
}

const STATES_OF_TRANSCODINGS = { waiting: 'waiting', delayed: 'waiting', active: 'running' } as const

/** For the whole server, so the same in every process. */
function registerBacklog(
  telemetry: Telemetry,
  parts: { queueOf: (type: string) => string; read: () => Promise<Reading<Backlog> | undefined> },
): void {
  const gauge = <Label extends string>(name: string, help: string, labels: readonly Label[], pick: (backlog: Backlog) => Sample<Label>[]) =>
    telemetry.gauge({
      name,
      help,
      labels,
      async read() {
        const reading = await parts.read()
        return reading && pick(reading.value)
      },
    })
  gauge('vireo_jobs', 'Jobs of the server', ['queue', 'type', 'state'], ({ jobs }) =>
    jobs.map(({ type, state, count }) => ({ labels: { queue: parts.queueOf(type), type, state }, value: count })),
  )
  gauge('vireo_transcodings', 'Transcodings that wait or run', ['state'], ({ jobs }) => {
    const counts = { waiting: 0, running: 0 }
    for (const { type, state, count } of jobs) {
      if (type !== 'video-transcoding') continue
      const known = Object.entries(STATES_OF_TRANSCODINGS).find(([name]) => name === state)?.[1]
      if (known) counts[known] += count
    }
    return countsBy('state', counts)
  })
  gauge('vireo_lanes_due', 'Lanes with work that no worker has taken yet', ['kind'], ({ lanes }) =>
    lanes.map(({ kind, count }) => ({ labels: { kind }, value: count })),
  )
  gauge('vireo_outbox_events', 'Events that were stored and not yet carried on', ['state'], (backlog) => byState(backlog.outbox))
  gauge('vireo_outbox_oldest_seconds', 'Age of the oldest event that waits', [], ({ outboxSeconds }) => [
    { labels: {}, value: outboxSeconds },
  ])
  gauge('vireo_deliveries', 'Deliveries to other servers', ['state'], ({ waitingDeliveries }) =>
    countsBy('state', { waiting: waitingDeliveries }),
  )
  gauge('vireo_incoming_activities', 'Activities of other servers that wait', ['state'], (backlog) => byState(backlog.incoming))
  gauge('vireo_remote_hosts', 'Servers that are known', ['state'], (backlog) => byState(backlog.hosts))
  gauge('vireo_live_sessions', 'Live streams that last or are recorded', ['state'], (backlog) => byState(backlog.liveSessions))
  gauge('vireo_live_pieces', 'Stored pieces of live streams', ['state'], (backlog) => byState(backlog.livePieces))
  gauge('vireo_live_encoding_seconds', 'Age of the oldest piece of a live stream that is not encoded', [], ({ liveSeconds }) => [
    { labels: {}, value: liveSeconds },
  ])
  telemetry.gauge({
    name: 'vireo_backlog_age_seconds',
    help: 'How old the figures are that come from the database',
    labels: [],
    async read() {
      const reading = await parts.read()
      return reading && [{ labels: {}, value: reading.ageMs / 1000 }]
    },
  })
}

const byState = (rows: { state: string; count: number }[]): Sample<'state'>[] =>
  rows.map(({ state, count }) => ({ labels: { state }, value: count }))

const countsBy = <Label extends string>(label: Label, counts: Record<string, number>): Sample<Label>[] =>
  Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name } as Record<Label, string>, value }))
