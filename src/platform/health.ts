// Whether this process lives, and whether it is ready for requests. Answers come at once, also while what it stands on does not
// answer at all: a part counts as up by the last sign of it.

import { setTimeout as pause } from 'node:timers/promises'

export type PartState = 'up' | 'down'

export interface Readiness {
  ready: boolean
  /** Why not, in a word. */
  status: 'ready' | 'starting' | 'draining' | 'unavailable'
  migrations: 'pending' | 'done'
  parts: Record<string, PartState>
}

export interface Part {
  /** Looks whether it is there; rejects when it is not. */
  look: () => Promise<unknown>
  /** When it last gave a sign by itself, on the clock of `performance.now()`. */
  seenAt?: () => number
  /** Requests are answered without it: it is reported, and readiness does not require it. */
  isDispensable?: boolean
}

export interface Health {
  /** From now on readiness tells of this part, and wants it. */
  add(name: string, part: Part): void
  migrated(): void
  started(): void
  /** For good: not ready any more, at once. */
  drain(): void
  isDraining(): boolean
  /** Resolves within some milliseconds, whatever state the parts are in. */
  readiness(): Promise<Readiness>
}

/** A sign of a part is as good as a look for so long. */
const FRESH_MS = 1000
/** How long a look is waited for, and how old a sign may be meanwhile. */
const PATIENCE_MS = 10
const TRUSTED_MS = 3000

export function makeHealth({ now = () => performance.now() }: { now?: () => number } = {}): Health {
  const parts = new Map<string, { look: () => Promise<PartState>; isWanted: boolean }>()
  let migrations: Readiness['migrations'] = 'pending'
  let phase: 'starting' | 'serving' | 'draining' = 'starting'

  async function readiness(): Promise<Readiness> {
    const states = await Promise.all([...parts].map(async ([name, { look }]) => [name, await look()] as const))
    const allUp = states.every(([name, state]) => state === 'up' || !parts.get(name)?.isWanted)
    const status = phase !== 'serving' ? phase : allUp ? 'ready' : 'unavailable'
    return { ready: status === 'ready', status, migrations, parts: Object.fromEntries(states) }
  }

  return {
    add: (name, part) => void parts.set(name, { look: watch(part, now), isWanted: !part.isDispensable }),
    migrated() {
      migrations = 'done'
    },
    started() {
      if (phase === 'starting') phase = 'serving'
    },
    drain() {
      phase = 'draining'
    },
    isDraining: () => phase === 'draining',
    readiness,
  }
}

function watch({ look, seenAt = () => Number.NEGATIVE_INFINITY }: Part, now: () => number): () => Promise<PartState> {
  let answeredAt = Number.NEGATIVE_INFINITY
  let failedAt = Number.NEGATIVE_INFINITY
  // Not a second one while one hangs: each may hold a connection.
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
