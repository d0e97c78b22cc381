// Limits the time for the arrival of a body: each must bring a minimum of bytes per period, and small ones have a total limit. Node has one
// limit for all requests, and a chunk of a resumable upload may need longer than any other body.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { answerClientError } from './client-errors.ts'
import { countedAddress } from './rate-limit.ts'
import type { App } from './types.ts'

/** Ms without a byte of a streamed body. */
const LONGEST_SILENCE_MS = 120_000
/** Ms for the headers of a request, and how often that is checked. */
export const HEADERS_TIMEOUT_MS = 20_000
export const CONNECTIONS_CHECK_MS = 5_000

export interface Pace {
  /** Ms without any requirement. */
  graceMs: number
  /** In each period of this many ms ... */
  windowMs: number
  /** ... this many bytes per second. */
  bytesPerSecond: number
  /** Bodies of one address that may still arrive after the grace period. */
  perAddress: number
}

/** Honest bodies arrive at once. A phone that changes its network is silent for some seconds. */
const PACE: Pace = { graceMs: 10_000, windowMs: 10_000, bytesPerSecond: 500, perAddress: 20 }
/** Uploads may pause for longer: they cost the sender more, and the sender is known. */
const UPLOAD_PACE: Pace = { ...PACE, windowMs: 60_000, perAddress: Number.POSITIVE_INFINITY }

/** Ends requests whose bodies are too slow, those that take longer than `longestMs` unless a route streams them, and silent streams. */
export function addBodyDeadline(app: App, { longestMs, pace = PACE }: { longestMs: number; pace?: Pace }): void {
  /** Bodies that still arrive after the grace period, by address. */
  const late = new Map<string, number>()

  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request
    if (isReceived(raw)) {
      const end = (): void => endRequest(raw, reply.raw)
      if (isStream(request)) {
        endSilence(raw, LONGEST_SILENCE_MS)
        endSlow(raw, { pace: UPLOAD_PACE, end: () => raw.destroy(tooLate()) })
      } else {
        endInTime(raw, { longestMs, end })
        endSlow(raw, takesFiles(request) ? { pace: UPLOAD_PACE, end } : { pace, end, late, address: countedAddress(request) })
      }
    }
    done()
  })

  // The rest of a refused upload gets no more time than any other body.
  app.addHook('onResponse', (request, reply, done) => {
    const { raw } = request
    if (isReceived(raw) && !raw.complete && (isStream(request) || takesFiles(request))) {
      endSlow(raw, { pace, end: () => endRequest(raw, reply.raw), late, address: countedAddress(request) })
    }
    done()
  })
}

const isStream = (request: FastifyRequest): boolean => request.routeOptions.config?.body === 'stream'

function takesFiles({ routeOptions, server }: FastifyRequest): boolean {
  const { form } = routeOptions.config ?? {}
  return form ? form.files.length > 0 : server.hasContentTypeParser('multipart/form-data')
}

/** Ends the body after a silence of this many ms. */
export function endSilence(body: IncomingMessage, silenceMs: number): void {
  body.setTimeout(silenceMs, () => body.destroy(tooLate()))
  body.once('end', () => body.setTimeout(0))
}

function endInTime(body: IncomingMessage, { longestMs, end }: { longestMs: number; end: () => void }): void {
  const check = (): void => {
    if (!isOver(body)) end()
  }
  const timer = setTimeout(afterReads(check), longestMs).unref()
  whenOver(body, () => clearTimeout(timer))
}

function endSlow(
  body: IncomingMessage,
  { pace, end, late, address = '' }: { pace: Pace; end: () => void; late?: Map<string, number>; address?: string },
): void {
  const { graceMs, windowMs, bytesPerSecond, perAddress } = pace
  const { socket } = body
  let seen = 0
  const look = (): void => {
    const came = socket.bytesRead - seen
    seen = socket.bytesRead
    if (came < (bytesPerSecond * windowMs) / 1000 && !waitsForUs(body)) end()
  }
  const begin = (): void => {
    if (isOver(body)) return
    const others = late?.get(address) ?? 0
    if (others >= perAddress) {
      end()
      return
    }
    late?.set(address, others + 1)
    whenOver(body, () => leave(late, address))
    seen = socket.bytesRead
    timer = setInterval(afterReads(look), windowMs).unref()
  }
  let timer = setTimeout(afterReads(begin), graceMs).unref()
  whenOver(body, () => clearInterval(timer))
}

function leave(late: Map<string, number> | undefined, address: string): void {
  const left = (late?.get(address) ?? 0) - 1
  if (left > 0) late?.set(address, left)
  else late?.delete(address)
}

/** Timers fire before reads: after a long turn of the event loop, received bytes count as well. */
const afterReads = (check: () => void) => (): void => void setImmediate(check)

const isOver = (body: IncomingMessage): boolean => body.complete || body.destroyed

/** True if the body is complete, or if it waits for this server to read it. */
const waitsForUs = (body: IncomingMessage): boolean => isOver(body) || body.readableLength >= body.readableHighWaterMark

function endRequest(body: IncomingMessage, answer: ServerResponse): void {
  if (answer.headersSent) body.socket.destroy()
  else answerClientError(tooLate(), body.socket)
}

/** Calls once when the body is complete or failed. */
function whenOver(body: IncomingMessage, tell: () => void): void {
  const once = (): void => {
    body.off('end', once).off('close', once)
    tell()
  }
  body.once('end', once).once('close', once)
}

/** True if a body arrives through a connection; injected requests of tests have none. */
const isReceived = ({ headers, socket }: IncomingMessage): boolean =>
  socket instanceof Socket && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)

const tooLate = (): Error & { code: string } =>
  Object.assign(new Error('The body took too long to arrive.'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
