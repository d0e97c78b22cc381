// Structured logs (JSON lines on standard output, and in files), without secrets.

import { type DestinationStream, type Logger, pino } from 'pino'
import { redactSecrets } from './redact.ts'

export type { Logger }

/** Redacted paths: credentials in headers, bodies and configuration. */
const REDACTED = [
  'authorization',
  'password',
  'token',
  // Also in headers of a request, and in the options of its form parser.
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

/** The subject of a line, for filtering. */
export type LogTag = 'http' | 'ap' | 'job' | 'sql' | 'video' | 'mail' | 'tracker' | 'client' | 'config' | 'live' | 'plugin'

/** Makes the logger of the process. `level` is one of pino's levels (`debug`, `info`, `warn`, `error`, `silent`). */
export function makeLogger(options: { level: string; destination?: DestinationStream }): Logger {
  const settings = {
    level: options.level,
    base: null,
    redact: { paths: REDACTED, censor: '[hidden]' },
    // Texts and errors may contain addresses, too.
    hooks: { streamWrite: redactSecrets },
  }
  return options.destination ? pino(settings, options.destination) : pino(settings)
}

/** The logger of a component: its lines carry these tags. */
export const tagged = (logger: Logger, ...tags: [LogTag, ...LogTag[]]): Logger => logger.child({ tags })

/** Writes lines to standard output and to `also`. */
export function standardOutputAnd(also: DestinationStream): DestinationStream {
  const output = pino.destination({ fd: 1, sync: true })
  return {
    write(line) {
      output.write(line)
      also.write(line)
    },
  }
}

/** A logger without output, for tests and one-shot commands. */
export const silentLogger: Logger = pino({ level: 'silent' })
