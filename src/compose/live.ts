// The role `live`: listens while lives are enabled, and starts a process for each publisher, and for each runner that plays a stream.

import { fork, type Serializable } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import pLimit from 'p-limit'
import { type AcceptedStream, admitPlayer, type LiveSessions, type PlayedJob } from '../actors/live/index.ts'
import { DomainError, type GuessLimits } from '../actors/runtime/index.ts'
import type { Config } from '../config/index.ts'
import type { LivePlayerOrder } from '../live-player.ts'
import type { LiveStreamOrder } from '../live-stream.ts'
import { type Ffmpeg, type LiveAcceptor, type LiveRequest, makeLiveAcceptor } from '../media/index.ts'
import { compileCacheEnv } from '../platform/compile-cache.ts'
import type { Database } from '../platform/database/index.ts'
import type { Logger } from '../platform/logger.ts'

type Admission = Accepted | { accepted: false; reason: string }
type Accepted = { accepted: true } & ({ stream: AcceptedStream } | { played: PlayedJob })

/** Only what names no stream is a guess: encoder programs try again each second, whatever the refusal. */
const isUnknown = (error: unknown): boolean => error instanceof DomainError && error.kind === 'not_found'

export type LiveRole = ReturnType<typeof makeLiveRole>

export function makeLiveRole(options: {
  config: () => Config
  sessions: LiveSessions
  guesses: GuessLimits
  db: Pick<Database, 'query'>
  database: LiveStreamOrder['database']
  ffmpeg: Ffmpeg
  logger: Logger
}) {
  const { config, sessions, guesses, db, database, ffmpeg, logger } = options

  async function admit({ action, name, address }: LiveRequest): Promise<Admission> {
    const decide = async (): Promise<Admission> =>
      action === 'play' ? { accepted: true, played: await admitPlayer(db, name) } : { accepted: true, stream: await sessions.accept(name) }
    try {
      return await guesses.check(`live:${address}`, decide, isUnknown)
    } catch (error) {
      return refusalOf(error)
    }
  }

  function adopt({ socket, handover, admission }: Parameters<Parameters<typeof makeLiveAcceptor<Admission>>[0]['adopt']>[0]): void {
    const of = { handover, config: config(), database, ffmpeg }
    if ('played' in admission) {
      start(PLAYER, { ...of, played: admission.played } satisfies LivePlayerOrder, socket, () => undefined)
      return
    }
    const { stream } = admission
    // A session that it ended itself refuses it. If this process ends first, the silence shows.
    start(STREAM, { ...of, stream } satisfies LiveStreamOrder, socket, () => {
      sessions.end(stream.sessionId, { type: 'LOST', generation: stream.generation }).catch(() => undefined)
    })
  }

  /** Hands a connection to a process of its own; `reportLoss` is called if that fails. */
  function start(program: string, order: Serializable, socket: Socket, reportLoss: () => void): void {
    // Detached, so that neither a signal to this process nor its end reaches the stream.
    const child = fork(fileURLToPath(new URL(program, import.meta.url)), [], {
      detached: true,
      env: { ...process.env, ...compileCacheEnv() },
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // Its own flags give it its own compile cache: V8 rejects code that was compiled with other flags.
      execArgv: ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=2', '--bytecode-old-age=2'],
    })
    const fail = (error: unknown) => {
      logger.error({ err: error }, 'the process of a live stream could not be started')
      socket.destroy()
      reportLoss()
    }
    child.once('exit', (code) => {
      if (code !== 0) reportLoss()
    })
    child.once('error', fail)
    child.send(order, socket, (error) => {
      if (error) return fail(error)
      child.off('error', fail).on('error', () => undefined)
      child.disconnect()
      child.unref()
    })
  }

  const listeners: Record<Kind, Listener> = { rtmp: {}, rtmps: {} }
  const oneAtATime = pLimit(1)
  let isStopped = false
  let retry: NodeJS.Timeout | undefined

  async function listen(kind: Kind): Promise<void> {
    const { hostname, port } = config().live[kind]
    const { key_file, cert_file } = config().live.rtmps
    const tls = kind === 'rtmps' ? { key: await readFile(key_file), cert: await readFile(cert_file) } : undefined
    const acceptor = makeLiveAcceptor<Admission>({ hostname: hostname ?? '::', port, tls, admit, adopt, logger })
    listeners[kind] = { acceptor, ...(await acceptor.start()) }
    logger.info({ kind, port: listeners[kind].port }, 'live streams are accepted')
  }

  /** Opens and closes the ports as the configuration says, and ends all streams while lives are disabled. What fails is tried again. */
  async function adapt(): Promise<void> {
    clearTimeout(retry)
    for (const kind of KINDS) await adaptPort(kind).catch(tryAgain)
    if (!isStopped && !config().live.enabled) await sessions.stopAll().catch(tryAgain)
  }

  async function adaptPort(kind: Kind): Promise<void> {
    const isWanted = !isStopped && config().live.enabled && config().live[kind].enabled
    const { acceptor } = listeners[kind]
    if (isWanted && !acceptor) await listen(kind)
    if (isWanted || !acceptor) return
    listeners[kind] = {}
    await acceptor.stop()
  }

  /** Another process may hold the port as long as it ends. */
  function tryAgain(error: unknown): void {
    logger.error({ err: error }, 'live streams cannot be accepted or ended')
    clearTimeout(retry)
    retry = setTimeout(() => void oneAtATime(adapt), RETRY_MS).unref()
  }

  return {
    /** Listens if lives are enabled, also after a change of the configuration. */
    adapt: () => oneAtATime(adapt),
    /** Streams that were accepted go on. */
    stop() {
      isStopped = true
      return oneAtATime(adapt)
    },
    /** The ports that it listens on. */
    ports: () => ({ rtmp: listeners.rtmp.port, rtmps: listeners.rtmps.port }),
  }
}

function refusalOf(error: unknown): Admission {
  if (error instanceof DomainError) return { accepted: false, reason: error.message }
  throw error
}

const STREAM = '../live-stream.ts'
const PLAYER = '../live-player.ts'

const KINDS = ['rtmp', 'rtmps'] as const
type Kind = (typeof KINDS)[number]
type Listener = { acceptor?: LiveAcceptor; port?: number }
const RETRY_MS = 5_000
