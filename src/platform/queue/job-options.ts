// How a hint becomes a BullMQ job: merged with its like, tried once, no trace left.

import type { JobsOptions } from 'bullmq'
import type { Hint } from './types.ts'

/** Delayed hints of the same id are merged when they fall into the same span of this length. */
const DELAY_GRAIN_MS = 100
/**
 * How long a waiting hint takes in others of its id. It ends by itself, since a process killed between taking a hint and
 * letting new ones in would keep all others of that id out until BullMQ finds it dead, a minute later.
 */
const MERGE_MS = 5_000
/** Slots of a repeated hint reuse so many keys in turn, so that their marks do not pile up. */
const SLOT_KEYS = 4
/** How long a slot's mark lives, in intervals: longer than clocks differ, shorter than its key is reused. */
const SLOT_TTL = 2.5

const SLOT = 'every '

const ONCE_AND_GONE: JobsOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true }

/** `now` in ms since 1970. A hint of no delay never waits behind a delayed one of its id. */
export function jobOptions(hint: Pick<Hint, 'id' | 'delayMs' | 'priority'>, now: number): JobsOptions {
  const priority = hint.priority ? { priority: hint.priority } : {}
  if (!hint.delayMs || hint.delayMs <= 0) {
    return { ...ONCE_AND_GONE, ...priority, deduplication: { id: hint.id, ttl: MERGE_MS } }
  }
  const due = Math.ceil((now + hint.delayMs) / DELAY_GRAIN_MS) * DELAY_GRAIN_MS
  return { ...ONCE_AND_GONE, ...priority, timestamp: now, delay: due - now, deduplication: { id: `${hint.id}@${due}` } }
}

/** The job of a repeated hint: whichever process asks first in an interval gets it in. */
export function slotOptions(name: string, intervalMs: number, now: number): JobsOptions {
  const slot = Math.floor(now / intervalMs)
  const id = `${SLOT}${name} ${slot % SLOT_KEYS}`
  return { ...ONCE_AND_GONE, deduplication: { id, ttl: Math.ceil(intervalMs * SLOT_TTL) } }
}

/** Whether the mark of a job is to outlive it: that of a repeated hint. */
export const isSlot = (options: JobsOptions): boolean => options.deduplication?.id.startsWith(SLOT) ?? false

/** Milliseconds until the next interval begins. */
export function untilNextSlot(intervalMs: number, now: number): number {
  return (Math.floor(now / intervalMs) + 1) * intervalMs - now
}
