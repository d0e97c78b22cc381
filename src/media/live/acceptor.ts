// Listens for RTMP or RTMPS, asks once whether a stream may be published or played, and hands the connection over to the process that does it.

import { createServer, type Server, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import type { Logger } from '../../platform/logger.ts'
import { messageOf } from '../errors.ts'
import { makeAdmissionTalk, type StreamTalk } from './admission-talk.ts'
import { playRefused, publishRefused } from './answers.ts'
import { makeConnection, type RtmpConnection, writeAnswersTo } from './connection.ts'
import type { Handover } from './handover.ts'
import { makeHandshake } from './handshake.ts'
import { makePlainPipe } from './plain-pipe.ts'
import { ProtocolError } from './protocol-error.ts'
import { stopReading, takeBuffered } from './socket-handle.ts'
import { makeWaitingRoom, type WaitingLimits } from './waiting-room.ts'

export type LiveAdmission = { accepted: true } | { accepted: false; reason: string }

export interface LiveRequest {
  action: 'publish' | 'play'
  /** The stream key, or what identifies the stream and the right to play it. */
  name: string
  address: string
}

export interface LiveAcceptorLimits extends WaitingLimits {
  /** ms from the first byte of TCP to the end of the RTMP handshake, with that of TLS. */
  handshakeMs: number
  /** ms from there to the admission. */
  publishMs: number
}

export interface LiveAcceptorOptions<Admission extends LiveAdmission> {
  hostname: string
  port: number
  /** In PEM. With it, the port speaks RTMPS. */
  tls?: { key: string | Buffer; cert: string | Buffer } | undefined
  /** Asked once for each `publish` or `play`. A refusal's reason is shown to the peer. */
  admit: (asked: LiveRequest) => Promise<Admission>
  /**
   * Takes the connection: `child.send({ handover }, socket)`. The other process answers the peer, so this one must not use the socket any more.
   * If it throws, the connection is closed.
   */
  adopt: (taken: { socket: Socket; handover: Handover; admission: Extract<Admission, { accepted: true }> }) => void | Promise<void>
  logger: Logger
  limits?: Partial<LiveAcceptorLimits>
}

export type LiveAcceptor = ReturnType<typeof makeLiveAcceptor>

const LIMITS: LiveAcceptorLimits = { handshakeMs: 5_000, publishMs: 10_000, perAddress: 32, inAll: 512 }
/** Bytes: commands are short. */
const COMMAND_LIMITS = { message: 64 * 1024, unfinished: 64 * 1024 }
/** Until a stream is asked for, of any kind; a publisher needs about twelve. */
const MOST_MESSAGES = 64
/** Bytes until then. What follows the request at once is not counted. */
const MOST_BYTES = 256 * 1024
/** ms that a refused publisher has to read why. */
const LINGER_MS = 2_000

export function makeLiveAcceptor<Admission extends LiveAdmission>(options: LiveAcceptorOptions<Admission>) {
  const { hostname, port, tls, admit, adopt, logger } = options
  const limits = { ...LIMITS, ...options.limits }
  const room = makeWaitingRoom(limits)
  const secureContext = tls && createSecureContext(tls)
  let server: Server | undefined

  return {
    /** Resolves with the port when it listens. */
    start(): Promise<{ port: number }> {
      return new Promise((resolve, reject) => {
        server = createServer({ noDelay: true, keepAlive: true }, accept)
        server.once('error', reject)
        server.listen({ host: hostname, port }, () => {
          server?.off('error', reject).on('error', (error) => logger.warn({ err: error }, 'a live connection could not be accepted'))
          const address = server?.address()
          resolve({ port: typeof address === 'object' && address ? address.port : port })
        })
      })
    },
    /** Stops listening and closes connections that wait for their admission. Streams that were handed over go on. */
    async stop() {
      // Its `close` event would wait for the streams of other processes.
      server?.close()
      room.closeAll()
    },
  }

  function accept(raw: Socket): void {
    const address = raw.remoteAddress ?? ''
    const socket = secureContext ? new TLSSocket(raw, { isServer: true, secureContext }) : raw
    let progress = 0
    let received = 0
    let connection: RtmpConnection | undefined
    let state: 'waiting' | 'refused' | 'gone' = 'waiting'
    const write = writeAnswersTo(socket)
    const handshake = makeHandshake(write)
    const talk = makeAdmissionTalk(write)
    const visitor = { address, progress: () => progress, close }
    let deadline = setTimeout(() => close('the handshake took too long'), limits.handshakeMs)

    room.enter(visitor)
    raw.on('error', onError).on('close', onClose)
    socket.on('data', onData)
    if (socket !== raw) socket.on('error', onError)

    function onError(error: Error): void {
      close(error.message)
    }

    function onClose(): void {
      close('the peer left')
    }

    function leave(): void {
      state = 'gone'
      clearTimeout(deadline)
      room.leave(visitor)
    }

    function close(reason: string): void {
      if (state === 'gone') return
      if (state === 'waiting') logger.debug({ address, reason }, 'a live connection is closed before it is admitted')
      leave()
      socket.destroy()
      raw.destroy()
    }

    /** Lets the peer read what was written, unless others need its place. */
    function refuse(reason: string): void {
      if (state !== 'waiting') return
      state = 'refused'
      progress = -1
      logger.info({ address, reason }, 'a live connection is refused')
      clearTimeout(deadline)
      deadline = setTimeout(() => close(reason), LINGER_MS)
      socket.off('data', onData).end()
      socket.resume()
    }

    function onData(bytes: Buffer): void {
      received += bytes.length
      try {
        if (connection) connection.push(bytes)
        else {
          const rest = handshake.push(bytes)
          if (!rest) return
          progress = 1
          clearTimeout(deadline)
          deadline = setTimeout(() => close('nothing was admitted in time'), limits.publishMs)
          connection = makeConnection({ limits: COMMAND_LIMITS, mostMessages: MOST_MESSAGES, write })
          connection.push(rest)
        }
        converse(connection)
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error
        close(error.message)
      }
    }

    function converse(open: RtmpConnection): void {
      for (let event = open.next(); event; event = open.next()) {
        progress += 1
        const step = talk.take(event)
        if (step.next === 'go-on') continue
        if (step.next === 'close') refuse(step.reason)
        else ask(open, step)
        return
      }
      if (received > MOST_BYTES) throw new ProtocolError('There are too many bytes before a stream is asked for.')
    }

    function ask(open: RtmpConnection, asked: StreamTalk): void {
      socket.off('data', onData)
      if (secureContext) socket.pause()
      else stopReading(socket)
      decide(open, asked).catch((error: unknown) => {
        logger.error({ err: error, address }, 'a live connection could not be taken')
        close(messageOf(error))
        raw.destroy()
      })
    }

    async function decide(open: RtmpConnection, { next: action, name, messageStream }: StreamTalk): Promise<void> {
      const admission = await admit({ action, name, address })
      if (state !== 'waiting') return
      if (!isAccepted(admission)) {
        const refused = action === 'publish' ? publishRefused : playRefused
        socket.write(refused(messageStream, admission.accepted ? '' : admission.reason))
        return refuse('the stream key is refused')
      }
      const handover = (): Handover => ({ connection: open.state(), messageStream })
      if (secureContext) {
        const { here, there } = await makePlainPipe()
        if (state !== 'waiting') return void [here, there].map((end) => end.destroy())
        leave()
        carry(socket, here)
        await adopt({ socket: there, handover: handover(), admission })
      } else {
        open.push(takeBuffered(socket))
        leave()
        socket
          .off('error', onError)
          .off('close', onClose)
          .on('error', () => undefined)
        await adopt({ socket, handover: handover(), admission })
      }
    }
  }
}

const isAccepted = <Admission extends LiveAdmission>(admission: Admission): admission is Extract<Admission, { accepted: true }> =>
  admission.accepted

/** Carries bytes both ways until either end closes. */
function carry(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => undefined).pipe(to)
    from.on('close', () => to.destroySoon())
  }
}
