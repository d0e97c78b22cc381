// Errors that Node reports before Fastify sees a request: broken HTTP, too many headers, slow clients.

import type { Socket } from 'node:net'
import { PROBLEM_TYPE, problemBody } from './problem.ts'

const MEANINGS: Record<string, { status: number; reason: string; detail: string }> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, reason: 'Request Timeout', detail: 'The request took too long to arrive.' },
  HPE_HEADER_OVERFLOW: { status: 431, reason: 'Request Header Fields Too Large', detail: 'The headers are too long.' },
}
const MALFORMED = { status: 400, reason: 'Bad Request', detail: 'The request is not valid HTTP.' }

/** Responds with a problem body and closes the connection. */
export function answerClientError(error: Error & { code: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, reason, detail } = MEANINGS[error.code] ?? MALFORMED
  const body = JSON.stringify(problemBody({ status, detail }))
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
