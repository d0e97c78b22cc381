// Structured logs (JSON lines on standard output), without secrets.

import { type DestinationStream, type Logger, pino } from 'pino'

export type { Logger }

/** Paths that never reach a log line: credentials in headers, bodies and configuration. */
const REDACTED = [
  'authorization',
  'password',
  'token',
  // In those of a request too, and in what its parser of forms is given.
  ...['headers', '*.headers'].flatMap((headers) => [
    `${headers}.authorization`,
    `${headers}.cookie`,
    `${headers}["x-peertube-video-password"]`,
  ]),
  '*.password',
  '*.access_token',
  '*.refresh_token',
  '*.client_secret',
]

/** Makes the process logger. `level` is one of pino's levels (`debug`, `info`, `warn`, `error`, `silent`). */
export function makeLogger(options: { level: string; destination?: DestinationStream }): Logger {
  const settings = { level: options.level, base: null, redact: { paths: REDACTED, censor: '[hidden]' } }
  return options.destination ? pino(settings, options.destination) : pino(settings)
}

/** A logger that says nothing, for tests and one-shot commands. */
export const silentLogger: Logger = pino({ level: 'silent' })
