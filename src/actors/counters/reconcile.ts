// Reconciles all maintained counters with their causes, after a bug, a restored backup, or cascading deletes. One process of the cluster
// walks, a bounded part at a time. Views are excluded, because their causes are not stored.

import { isStatementTimeout } from '../../platform/database/index.ts'
import { reconcileAbuseTotals } from '../abuse/index.ts'
import { reconcileActorTotals, recountActors } from '../actor/index.ts'
import { reconcileCommentTotals } from '../comment/index.ts'
import { reconcilePlaylistTotals, recountPlaylists } from '../playlist/index.ts'
import type { ActorDeps, Unit } from '../runtime/index.ts'
import { reconcileCounters, reconcileVideoTotals } from '../video/index.ts'

export interface Walk {
  everyMs: number
  /** The table to walk by id, in batches; omitted if it counts all at once. */
  over?: { table: string; of?: string; atOnce: number }
  /** Corrects a batch after this id; returns where to continue, undefined at the end. */
  step(unit: Unit, after: number, rows: number): Promise<number | undefined>
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Rows per step: 60,000 videos are counted within the hour. */
const ROWS = 1000
/** A smaller batch, since actors may have many followers. */
const ACTORS = 200
/**
 * Limit of a statement. If a batch takes longer, the next one is smaller, and a single row that takes longer is skipped. Totals are counted
 * from an index alone: on a server that is too large for this they stay uncorrected, and the log tells.
 */
const LONGEST_MS = 20_000

/** By what they count. */
export const walks: Readonly<Record<string, Walk>> = {
  videos: {
    everyMs: MINUTE_MS,
    over: { table: 'video', atOnce: ROWS },
    step: (unit, after, limit) => reconcileCounters(unit, { after, limit }),
  },
  playlists: recounting({ table: 'playlist', atOnce: ROWS }, recountPlaylists),
  follows: recounting({ table: 'actor', of: 'host_id is null', atOnce: ACTORS }, recountActors),
  'remote-follows': recounting({ table: 'actor', of: 'host_id is not null', atOnce: ROWS }, recountActors),
  'video-totals': { everyMs: HOUR_MS, step: atOnce(reconcileVideoTotals) },
  'playlist-totals': { everyMs: HOUR_MS, step: atOnce(reconcilePlaylistTotals) },
  'actor-totals': { everyMs: HOUR_MS, step: atOnce(reconcileActorTotals) },
  'comment-totals': { everyMs: HOUR_MS, step: atOnce(reconcileCommentTotals) },
  'abuse-totals': { everyMs: HOUR_MS, step: atOnce(reconcileAbuseTotals) },
}

function recounting(over: NonNullable<Walk['over']>, recount: typeof recountActors): Walk {
  return {
    everyMs: MINUTE_MS,
    over,
    step: (unit, after, limit) => recount(unit.query, { ...over, after, limit }),
  }
}

function atOnce(reconcile: (unit: Unit) => Promise<void>): Walk['step'] {
  return async (unit) => {
    await reconcile(unit)
    return undefined
  }
}

export function scheduleReconciliation(deps: Pick<ActorDeps, 'tell' | 'registry' | 'logger'>): void {
  for (const [counter, walk] of Object.entries(walks)) {
    deps.registry.periodic(`reconcile-${counter}`, { everyMs: () => walk.everyMs, run: makeRun(deps, counter, walk) })
  }
}

/** One step of a walk, with a smaller batch after one that took too long. */
function makeRun({ tell, logger }: Pick<ActorDeps, 'tell' | 'logger'>, counter: string, walk: Walk) {
  const { over, step, everyMs } = walk
  const most = over?.atOnce ?? 1
  let rows = most

  /** Advances a due walk with `work`. */
  const move = (work: (unit: Unit, after: number) => Promise<number | undefined>): Promise<void> =>
    tell.create(async (unit) => {
      const place = await claim(unit, counter, everyMs)
      if (!place) return
      await unit.query(`set local statement_timeout = ${LONGEST_MS}`)
      const next = (await work(unit, place.after)) ?? 0
      await unit.query('update reconciliation set after = $2, looked_at = $3 where counter = $1', [counter, next, unit.now])
    })

  return async () => {
    try {
      await move((unit, after) => step(unit, after, rows))
      rows = Math.min(most, rows * 2)
    } catch (error) {
      if (!over || !isStatementTimeout(error)) throw error
      logger.warn({ counter, rows, err: error }, 'a step of recounting took too long')
      if (rows === 1) await move((unit, after) => idAfter(unit, over, after))
      rows = Math.max(1, Math.floor(rows / 10))
    }
  }
}

async function idAfter(unit: Unit, { table, of = 'true' }: NonNullable<Walk['over']>, after: number): Promise<number | undefined> {
  const [row] = await unit.query<{ id: number }>(`select id from ${table} where id > $1 and ${of} order by id limit 1`, [after])
  return row?.id
}

/** The position of a due walk, locked until the end of the transaction. */
async function claim(unit: Unit, counter: string, everyMs: number): Promise<{ after: number } | undefined> {
  await unit.query('insert into reconciliation (counter, after) values ($1, 0) on conflict (counter) do nothing', [counter])
  // Processes run at different moments, and clocks differ a little.
  const dueBefore = new Date(unit.now.getTime() - 0.9 * everyMs)
  const [place] = await unit.query<{ after: number }>(
    `select after from reconciliation where counter = $1 and (looked_at is null or looked_at <= $2) for update skip locked`,
    [counter, dueBefore],
  )
  return place
}
