// How long a body may take to arrive. Node knows one limit for all requests, and a chunk of a resumable upload may need longer than
// any other body: it takes as long as it takes, while bytes come.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerClientError } from './client-errors.ts'
import type { App } from './types.ts'

/** Ms without a byte of a body that a route reads as a stream. */
const LONGEST_SILENCE_MS = 120_000
/** Ms in which the headers of a request have to be there. */
export const HEADERS_TIMEOUT_MS = 60_000

/** Ends requests whose bodies take longer than this (ms), and those that routes read as streams when nothing comes any more. */
export function addBodyDeadline(app: App, { longestMs }: { longestMs: number }): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request
    if (hasBody(raw)) {
      if (request.routeOptions.config?.body === 'stream') endSilence(raw, LONGEST_SILENCE_MS)
      else endInTime(raw, reply.raw, longestMs)
    }
    done()
  })
}

/** Breaks the body when nothing of it comes for so long (ms). */
export function endSilence(body: IncomingMessage, silenceMs: number): void {
  body.setTimeout(silenceMs, () => body.destroy(tooLate()))
  body.once('end', () => body.setTimeout(0))
}

function endInTime(body: IncomingMessage, answer: ServerResponse, longestMs: number): void {
  const end = (): void => {
    if (answer.headersSent) body.socket.destroy()
    else answerClientError(tooLate(), body.socket)
  }
  const late = setTimeout(end, longestMs).unref()
  const stop = (): void => clearTimeout(late)
  body.once('end', stop).once('close', stop)
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const tooLate = (): Error & { code: string } =>
  Object.assign(new Error('The body took too long to arrive.'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
