// Structured logs (JSON lines on standard output, and in files), without secrets.

import { type DestinationStream, type Logger, pino } from 'pino'
import { hideSecrets } from './hidden.ts'

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

/** What a line is about, to find lines of one kind. */
export type LogTag = 'http' | 'ap' | 'job' | 'sql' | 'video' | 'mail' | 'tracker' | 'client' | 'config'

/** Makes the process logger. `level` is one of pino's levels (`debug`, `info`, `warn`, `error`, `silent`). */
export function makeLogger(options: { level: string; destination?: DestinationStream }): Logger {
  const settings = {
    level: options.level,
    base: null,
    redact: { paths: REDACTED, censor: '[hidden]' },
    // Addresses stand in texts and errors too.
    hooks: { streamWrite: hideSecrets },
  }
  return options.destination ? pino(settings, options.destination) : pino(settings)
}

/** The logger of a part: its lines carry these tags. */
export const tagged = (logger: Logger, ...tags: [LogTag, ...LogTag[]]): Logger => logger.child({ tags })

/** Lines go to standard output, and to whatever `also` is. */
export function standardOutputAnd(also: DestinationStream): DestinationStream {
  const output = pino.destination({ fd: 1, sync: true })
  return {
    write(line) {
      output.write(line)
      also.write(line)
    },
  }
}

/** A logger that says nothing, for tests and one-shot commands. */
export const silentLogger: Logger = pino({ level: 'silent' })
