// The composition root, which knows every part: composes the nouns and their foundation, and serves. The areas of the REST API and the
// pages are composed in compose/http.ts.

import { setTimeout as pause } from 'node:timers/promises'
import { type BlockLists, makeBlockLists } from './actors/blocklist/index.ts'
import { type AfterHostChange, makeAfterHostChange } from './actors/host-change/index.ts'
import { type JobOperator, makeJobOperator } from './actors/job-queue/index.ts'
import { makePluginOperator, type PluginOperator } from './actors/plugin/index.ts'
import type { StorageMoves } from './actors/storage-move/index.ts'
import { makeStoragePrune, type StoragePrune } from './actors/storage-prune/index.ts'
import { makeOperator, type Operator } from './actors/user/index.ts'
import { makeRedrawPictures, type RedrawPictures } from './actors/video/index.ts'
import { composeHttp } from './compose/http.ts'
import { type LiveRole, makeLiveRole } from './compose/live.ts'
import { registerFigures } from './compose/monitoring.ts'
import { makeParts, type ServerOptions } from './compose/parts.ts'
import { listen } from './http/server.ts'
import { systemClock } from './platform/clock.ts'
import { type Health, makeHealth } from './platform/health.ts'
import { randomToken } from './platform/ids.ts'
import { tagged } from './platform/logger.ts'

export type { Credentials, ServerOptions } from './compose/parts.ts'

export interface Server {
  /** Public origin. */
  url: string
  /** Listening address; null without the role `web`. */
  address: { hostname: string; port: number } | null
  /** Address of its metrics and health; null if not configured. */
  exporter: { hostname: string; port: number } | null
  healthListener: { hostname: string; port: number } | null
  /** Where it takes live streams. */
  live: ReturnType<LiveRole['ports']>
  /** For the command line. */
  operator: Operator &
    StorageMoves &
    StoragePrune &
    AfterHostChange &
    RedrawPictures & {
      jobs: JobOperator
      blocklist: BlockLists
      plugins: PluginOperator
    }
  /** Drains and stops everything that was started. */
  stop(): Promise<void>
}

/** Starts a server. Throws an Error with a one-line message if a required service is unavailable; nothing keeps running then. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const closers: (() => Promise<void>)[] = []
  const health = makeHealth()
  // Stops in reverse order; one that fails to stop does not keep the others running.
  const stop = async () => {
    const failures: unknown[] = []
    health.drain()
    for (const close of closers.splice(0).reverse()) await close().catch((error) => failures.push(error))
    if (failures.length > 0) throw new AggregateError(failures, 'Parts of the server did not stop cleanly.')
  }
  try {
    return await start(options, closers, { health, stop })
  } catch (error) {
    await stop().catch((cause) => options.logger.error({ err: cause }, 'the server did not stop cleanly'))
    throw error
  }
}

async function start(
  options: ServerOptions,
  closers: (() => Promise<void>)[],
  { health, stop }: { health: Health; stop: () => Promise<void> },
): Promise<Server> {
  const { loaded, logger, roles, clock = systemClock } = options
  const parts = await makeParts(options, closers, health)
  const { db, deps, follows, inspectFile, instance, jobQueue, loopWatch, media, runtime, storageMoves, store, users, watched } = parts
  const { config } = deps
  const { telemetry } = watched
  if (telemetry) registerFigures(telemetry, { db, registry: runtime.registry, health, clock, logger, roles })

  await firstStart()
  await runtime.start()
  let stopServing = async () => {}
  // Work is given back while the last requests are answered: new work from them waits in the database.
  closers.push(async () => {
    const worked = runtime.stop(config().vireo.runtime.drain_timeout)
    const ends = await Promise.allSettled([worked, stopServing()])
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  })
  const live = makeLiveRole({ ...deps, ...parts, sessions: parts.lives.sessions, logger: tagged(logger, 'live') })
  if (roles.includes('live')) {
    closers.push(() => live.stop())
    parts.source.onChange(() => void live.adapt())
    await live.adapt()
  }
  if (roles.includes('web')) {
    closers.push(() => parts.pluginHosts.stop())
    await parts.pluginHosts.start()
  }
  const address = await serve()
  health.started()
  loopWatch.start()

  return {
    url: loaded.publicUrl,
    address,
    exporter: watched.exporter,
    healthListener: watched.healthListener,
    live: live.ports(),
    operator: {
      ...makeOperator({ db, users }),
      ...storageMoves,
      ...makeStoragePrune({ db, store, clock }),
      ...makeRedrawPictures({ ...media, inspectFile }),
      ...makeAfterHostChange({ ...deps, follows }),
      jobs: makeJobOperator({ ...deps, jobQueue }),
      blocklist: makeBlockLists(deps),
      plugins: makePluginOperator(parts),
    },
    stop,
  }

  async function firstStart(): Promise<void> {
    // A command could not show the password of root.
    if (roles.length === 0) return await instance.assertStarted()
    await instance.ensure()
    const password = options.rootPassword ?? randomToken(8)
    if (!(await users.ensureRoot({ password }))) return
    const client = await instance.localClient()
    options.onFirstStart?.({
      clientId: client.client_id,
      clientSecret: client.client_secret,
      username: 'root',
      password,
    })
  }

  async function serve(): Promise<Server['address']> {
    if (!roles.includes('web')) return null
    const { checkResponses = false, onRoute } = options
    const app = await composeHttp({
      ...parts,
      publicUrl: loaded.publicUrl,
      examine: options.examine,
      options: { checkResponses, ...(onRoute ? { onRoute } : {}) },
    })
    stopServing = () => app.close()
    const listening = await listen(app, config().listen)
    stopServing = async () => {
      await pause(config().vireo.http.drain_delay)
      await listening.close()
    }
    return listening
  }
}
