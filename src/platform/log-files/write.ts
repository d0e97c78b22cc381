// Writes the log lines of this process into its own file in the log folder. Failures of the folder do not stop the server: every line is
// also on standard output.

import { utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createStream, type RotatingFileStream } from 'rotating-file-stream'
import { fullLogFileName, logFileName } from './names.ts'
import { tidyLogFiles } from './tidy.ts'

export type LogFileWriter = ReturnType<typeof openLogFiles>

export interface LogFileOptions {
  directory: string
  /** The roles of this process, joined by `+`. */
  kind: string
  /** Null: a single growing file. */
  rotation: { maxFileSize: number; maxFiles: number } | null
  /** Called once per outage of the folder. */
  warn: (message: string, error: unknown) => void
  host?: string
  pid?: number
  now?: () => number
}

/** Characters that may wait for a slow disk. */
const MAX_WAITING = 8_000_000
/** Characters per write, unless a line is longer: how far a file may exceed its size. */
const MAX_WRITE = 64 * 1024
const RETRY_MS = 60_000
/** Also the heartbeat of a file's process. */
const TIDY_EVERY_MS = 3_600_000
const CLOSE_WITHIN_MS = 5_000

export function openLogFiles(options: LogFileOptions) {
  const { directory, kind, rotation, warn, host = hostname(), pid = process.pid, now = Date.now } = options
  const own = { kind, host, pid }
  let stream: RotatingFileStream | undefined
  let retryAt = 0
  let isWarned = false
  let isClosed = false
  let isWriting = false
  /** Lines that are not passed to the stream yet. */
  let waiting = ''

  const complain = (message: string, error: unknown): void => {
    if (!isWarned) warn(message, error)
    isWarned = true
  }

  const tidy = async (): Promise<void> => {
    try {
      await utimes(join(directory, logFileName(own)), new Date(), new Date())
    } catch {
      // It does not exist, or is not writable.
    }
    if (rotation) await tidyLogFiles({ directory, kind, host, maxFiles: rotation.maxFiles, now })
  }
  const tidySilently = (): void => {
    tidy().catch((error) => complain('old log files could not be removed', error))
  }
  const timer = setInterval(tidySilently, TIDY_EVERY_MS)
  timer.unref()

  function open(): RotatingFileStream {
    const opened = createStream((at, index) => (at instanceof Date ? fullLogFileName(own, at, index ?? 1) : logFileName(own)), {
      path: directory,
      mode: 0o640,
      ...(rotation ? { size: `${rotation.maxFileSize}B` } : {}),
    })
    opened.on('error', (error) => {
      complain('log files cannot be written; standard output continues', error)
      if (stream === opened) stream = undefined
      waiting = ''
      isWriting = false
      retryAt = now() + RETRY_MS
    })
    opened.on('open', tidySilently)
    return opened
  }

  function take(): string {
    const end = waiting.length > MAX_WRITE ? waiting.lastIndexOf('\n', MAX_WRITE) + 1 : 0
    const text = end > 0 ? waiting.slice(0, end) : waiting
    waiting = waiting.slice(text.length)
    return text
  }

  /** Lines that arrive during a write are written together. */
  function flush(): void {
    if (isWriting || !stream || waiting === '') return
    isWriting = true
    stream.write(take(), (error) => {
      isWriting = false
      // The stream reports the error itself.
      if (error) return
      isWarned = false
      flush()
    })
  }

  return {
    /** Takes a line, and never fails. While the folder is not writable, lines are dropped. */
    write(line: string) {
      if (isClosed || (!stream && now() < retryAt)) return
      if (waiting.length + line.length > MAX_WAITING) {
        complain('log files are too slow; lines of them are let go', null)
        return
      }
      stream ??= open()
      waiting += line
      flush()
    },

    /** Flushes, for a few seconds at most. */
    async close() {
      if (isClosed) return
      isClosed = true
      clearInterval(timer)
      const last = stream
      if (!last) return
      const ended = new Promise<void>((resolve) => {
        last.once('close', resolve)
        last.once('error', () => resolve())
        while (waiting !== '') last.write(take())
        last.end()
      })
      const patience = new AbortController()
      await Promise.race([ended, pause(CLOSE_WITHIN_MS, undefined, { signal: patience.signal }).catch(() => undefined)])
      patience.abort()
    },
  }
}
