// Logs a failure that repeats many times a second only once in a while, with the number of suppressed lines.

import type { Logger } from './logger.ts'

const INTERVAL_MS = 5_000

export function makeQuietLog(logger: Logger): (message: string, error: unknown, details?: Record<string, unknown>) => void {
  const seen = new Map<string, { at: number; leftOut: number }>()
  return (message, error, details = {}) => {
    const text = error instanceof Error ? error.message : String(error)
    const key = `${message}|${text}`
    const now = performance.now()
    const last = seen.get(key)
    if (last && now - last.at < INTERVAL_MS) {
      last.leftOut += 1
      return
    }
    if (seen.size > 100) seen.clear()
    seen.set(key, { at: now, leftOut: 0 })
    logger.warn({ ...details, error: text, ...(last?.leftOut ? { leftOut: last.leftOut } : {}) }, message)
  }
}
