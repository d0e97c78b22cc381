// The role `live`: listens for publishers while lives are enabled, and starts a process for each stream.

import { fork } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { AcceptedStream, LiveSessions } from '../actors/live/index.ts'
import { DomainError, type GuessLimits } from '../actors/runtime/index.ts'
import type { Config } from '../config/index.ts'
import type { LiveStreamOrder } from '../live-stream.ts'
import { type Ffmpeg, type LiveAcceptor, makeLiveAcceptor } from '../media/index.ts'
import type { Logger } from '../platform/logger.ts'

type Admission = { accepted: true; stream: AcceptedStream } | { accepted: false; reason: string }

export interface LiveRole {
  start(): Promise<void>
  /** Streams that were accepted go on. */
  stop(): Promise<void>
  /** The ports that it listens on. */
  ports(): { rtmp?: number; rtmps?: number }
}

export function makeLiveRole(options: {
  config: () => Config
  sessions: LiveSessions
  guesses: GuessLimits
  database: LiveStreamOrder['database']
  ffmpeg: Ffmpeg
  logger: Logger
}): LiveRole {
  const { config, sessions, guesses, database, ffmpeg, logger } = options
  const listening = new Map<'rtmp' | 'rtmps', { acceptor: LiveAcceptor; port: number }>()

  async function admit(streamKey: string, { address }: { address: string }): Promise<Admission> {
    try {
      return { accepted: true, stream: await guesses.check(`live:${address}`, () => sessions.accept(streamKey)) }
    } catch (error) {
      if (error instanceof DomainError) return { accepted: false, reason: error.message }
      throw error
    }
  }

  function adopt({ socket, handover, admission }: Parameters<Parameters<typeof makeLiveAcceptor<Admission>>[0]['adopt']>[0]): void {
    const { stream } = admission
    // Detached, so that neither a signal to this process nor its end reaches the stream.
    const child = fork(fileURLToPath(new URL('../live-stream.ts', import.meta.url)), [], {
      detached: true,
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=2'],
    })
    const order: LiveStreamOrder = { handover, stream, config: config(), database, ffmpeg }
    const fail = (error: unknown) => {
      logger.error({ err: error, session: stream.sessionId }, 'the process of a live stream could not be started')
      socket.destroy()
      sessions.end(stream.sessionId, { type: 'LOST', generation: stream.generation }).catch(() => undefined)
    }
    child.once('error', fail)
    child.send(order, socket, (error) => {
      if (error) return fail(error)
      child.off('error', fail).on('error', () => undefined)
      child.disconnect()
      child.unref()
    })
  }

  async function listen(kind: 'rtmp' | 'rtmps', tls?: { key: string; cert: string }): Promise<void> {
    const { hostname, port } = config().live[kind]
    const acceptor = makeLiveAcceptor<Admission>({ hostname: hostname ?? '::', port, tls, admit, adopt, logger })
    listening.set(kind, { acceptor, ...(await acceptor.start()) })
  }

  return {
    async start() {
      const { enabled, rtmp, rtmps } = config().live
      if (!enabled) return
      if (rtmp.enabled) await listen('rtmp')
      if (rtmps.enabled) {
        const [key, cert] = await Promise.all([readFile(rtmps.key_file, 'utf8'), readFile(rtmps.cert_file, 'utf8')])
        await listen('rtmps', { key, cert })
      }
    },
    async stop() {
      for (const { acceptor } of listening.values()) await acceptor.stop()
      listening.clear()
    },
    ports: () => Object.fromEntries([...listening].map(([kind, { port }]) => [kind, port])),
  }
}
