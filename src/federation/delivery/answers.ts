// Interprets the response of an inbox. Pure.

import type { SendOutcome } from '../../actors/delivery/index.ts'
import { FetchError } from '../../platform/fetch/index.ts'

/** 4xx that mean: retry later. */
const LATER = new Set([408, 425, 429])

export function outcomeOf(answer: { status: number; headers: Record<string, string> }, now: Date): SendOutcome {
  const { status } = answer
  const error = `The inbox answered ${status}.`
  if (status >= 200 && status < 300) return { answer: 'sent', error: null }
  if (status === 401 || status === 403) return { answer: 'unauthorized', error }
  if (status === 404) return { answer: 'not-found', error }
  if (status === 410) return { answer: 'gone', error }
  if (status >= 500 || LATER.has(status)) {
    const retryAfter = readRetryAfter(answer.headers['retry-after'], now)
    return { answer: LATER.has(status) ? 'busy' : 'failed', error, ...(retryAfter === undefined ? {} : { retryAfter }) }
  }
  return { answer: 'unsupported', error }
}

/** For requests without a response. Waiting does not help with refused addresses. */
export function outcomeOfError(cause: unknown): SendOutcome {
  const error = cause instanceof Error ? cause.message : String(cause)
  const isRefusedByUs = cause instanceof FetchError && /^refused-(address|url)$/.test(cause.reason)
  return { answer: isRefusedByUs ? 'unsupported' : 'failed', error }
}

/** Seconds or a date (RFC 9110, 10.2.3), as milliseconds from now. */
export function readRetryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime())
}
