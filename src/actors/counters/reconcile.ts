// Every kept counter that has causes to be counted, and the walks that set right what differs from them: after a bug, a restored
// backup, or rows that went with others. One process of the cluster walks, a bounded part at a time. Views are not among them:
// what they came of is not kept.

import { followCounts, reconcileActorTotals } from '../actor/index.ts'
import { reconcileCommentTotals } from '../comment/index.ts'
import { elementCounts, reconcilePlaylistTotals } from '../playlist/index.ts'
import { type ActorDeps, recountNext, type Unit } from '../runtime/index.ts'
import { reconcileCounters, reconcileVideoTotals } from '../video/index.ts'

export interface Walk {
  everyMs: number
  /** Sets right what comes after this id; answers where to go on, undefined when it is through. */
  step(unit: Unit, after: number): Promise<number | undefined>
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Rows of a step: 60,000 videos are counted within the hour. */
const ROWS = 1000
/** Stars have many followers to be counted. */
const ACTORS = 200
/** Totals are counted from an index alone. On a server that is too large for this they stay as they are, and the log says so. */
const LONGEST_MS = 20_000

/** By what they count. */
export const walks: Readonly<Record<string, Walk>> = {
  videos: { everyMs: MINUTE_MS, step: (unit, after) => reconcileCounters(unit, { after, limit: ROWS }) },
  playlists: {
    everyMs: MINUTE_MS,
    step: (unit, after) => recountNext(unit.query, { table: 'playlist', counts: elementCounts, after, limit: ROWS }),
  },
  follows: {
    everyMs: MINUTE_MS,
    step: (unit, after) =>
      recountNext(unit.query, { table: 'actor', of: 'host_id is null', counts: followCounts, after, limit: ACTORS }),
  },
  'video-totals': { everyMs: HOUR_MS, step: atOnce(reconcileVideoTotals) },
  'playlist-totals': { everyMs: HOUR_MS, step: atOnce(reconcilePlaylistTotals) },
  'actor-totals': { everyMs: HOUR_MS, step: atOnce(reconcileActorTotals) },
  'comment-totals': { everyMs: HOUR_MS, step: atOnce(reconcileCommentTotals) },
}

function atOnce(reconcile: (unit: Unit) => Promise<void>): Walk['step'] {
  return async (unit) => {
    await reconcile(unit)
    return undefined
  }
}

export function keepCountersRight({ tell, registry }: Pick<ActorDeps, 'tell' | 'registry'>): void {
  for (const [counter, { everyMs, step }] of Object.entries(walks)) {
    registry.periodic(`reconcile-${counter}`, {
      everyMs: () => everyMs,
      run: () =>
        tell.create(async (unit) => {
          const place = await claim(unit, counter, everyMs)
          if (!place) return
          await unit.query(`set local statement_timeout = ${LONGEST_MS}`)
          const next = (await step(unit, place.after)) ?? 0
          await unit.query('update reconciliation set after = $2, looked_at = $3 where counter = $1', [
            ...[counter, next, unit.now],
          ])
        }),
    })
  }
}

/** The place of a walk that is due, and nobody else's until the end of the transaction. */
async function claim(unit: Unit, counter: string, everyMs: number): Promise<{ after: number } | undefined> {
  await unit.query('insert into reconciliation (counter, after) values ($1, 0) on conflict (counter) do nothing', [
    counter,
  ])
  // Every process has its own minute, and clocks differ a little.
  const dueBefore = new Date(unit.now.getTime() - 0.9 * everyMs)
  const [place] = await unit.query<{ after: number }>(
    `select after from reconciliation where counter = $1 and (looked_at is null or looked_at <= $2) for update skip locked`,
    [counter, dueBefore],
  )
  return place
}
