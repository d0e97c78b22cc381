// Liveness and readiness of this process. The response is immediate, even if a dependency hangs: a dependency counts as up by its last sign
// of life.

import { setTimeout as pause } from 'node:timers/promises'

export type PartState = 'up' | 'down'

export interface Readiness {
  ready: boolean
  /** Why it is not ready, in one word. */
  status: 'ready' | 'starting' | 'draining' | 'unavailable'
  migrations: 'pending' | 'done'
  parts: Record<string, PartState>
}

export interface Part {
  /** Checks it; rejects if it is unavailable. */
  look: () => Promise<unknown>
  /** Its last sign of life, on the clock of `performance.now()`. */
  seenAt?: () => number
  /** Requests work without it: it is reported, but readiness does not require it. */
  isDispensable?: boolean
}

export type Health = ReturnType<typeof makeHealth>

/** A sign of life replaces a check for this time. */
const FRESH_MS = 1000
/** How long a check is awaited, and the maximum age of a sign meanwhile. */
const PATIENCE_MS = 10
const TRUSTED_MS = 3000

export function makeHealth({ now = () => performance.now() }: { now?: () => number } = {}) {
  const parts = new Map<string, { look: () => Promise<PartState>; isWanted: boolean }>()
  let migrations: Readiness['migrations'] = 'pending'
  let phase: 'starting' | 'serving' | 'draining' = 'starting'

  /** Resolves within some milliseconds, whatever state the dependencies are in. */
  async function readiness(): Promise<Readiness> {
    const states = await Promise.all([...parts].map(async ([name, { look }]) => [name, await look()] as const))
    const allUp = states.every(([name, state]) => state === 'up' || !parts.get(name)?.isWanted)
    const status = phase !== 'serving' ? phase : allUp ? 'ready' : 'unavailable'
    return { ready: status === 'ready', status, migrations, parts: Object.fromEntries(states) }
  }

  return {
    /** From now on readiness reports this dependency, and requires it. */
    add(name: string, part: Part) {
      parts.set(name, { look: watch(part, now), isWanted: !part.isDispensable })
    },
    migrated() {
      migrations = 'done'
    },
    started() {
      if (phase === 'starting') phase = 'serving'
    },
    /** Permanently: not ready from now on. */
    drain() {
      phase = 'draining'
    },
    isDraining() {
      return phase === 'draining'
    },
    readiness,
  }
}

function watch({ look, seenAt = () => Number.NEGATIVE_INFINITY }: Part, now: () => number): () => Promise<PartState> {
  let answeredAt = Number.NEGATIVE_INFINITY
  let failedAt = Number.NEGATIVE_INFINITY
  // One check at a time: a hanging one may hold a connection.
  let looking: Promise<void> | undefined
  let lookedAt = Number.NEGATIVE_INFINITY
  const lastSign = () => Math.max(answeredAt, seenAt())

  async function lookOnce(): Promise<void> {
    lookedAt = now()
    try {
      await look()
      answeredAt = now()
    } catch {
      failedAt = now()
    } finally {
      looking = undefined
    }
  }

  return async () => {
    if (now() - Math.max(lastSign(), failedAt) >= FRESH_MS) looking ??= lookOnce()
    if (looking && now() - lookedAt < PATIENCE_MS) await Promise.race([looking, pause(PATIENCE_MS)])
    if (failedAt > lastSign()) return 'down'
    return now() - lastSign() < TRUSTED_MS ? 'up' : 'down'
  }
}
