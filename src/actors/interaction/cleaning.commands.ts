// The rounds over remote likes, dislikes, shares and comments on local videos: schedule, position, and missing objects. The job
// `activitypub-cleaner` asks the servers.

import { randomInt } from 'node:crypto'
import type { Aliased, Columns } from '../../platform/database/index.ts'
import { type ActorDeps, DomainError, removeUnstartedJobs, type Unit } from '../runtime/index.ts'
import type { InteractionMiss, InteractionsCleaning } from './interaction.entity.ts'
import { CLEANED_KINDS, type CleanedKind, type InteractionBatch, nextInteractions } from './interactions.queries.ts'
import { firstRun, nextRun, type RepeatSettings } from './schedule.ts'

/** Position of a round. */
export interface CleaningPlace {
  kind: CleanedKind
  afterId: number
  /** When the round began. */
  roundAt: Date
}

const JOB = 'activitypub-cleaner'
const PLAN_EVERY_MS = 600_000
/** Pause between two parts of a round, so that no server gets many requests at once. */
const REST_MS = 600_000

type Plan = Aliased<typeof InteractionsCleaning, 'dueAt' | 'settings'>

export type InteractionCleaning = ReturnType<typeof makeInteractionCleaning>

export function makeInteractionCleaning(deps: Pick<ActorDeps, 'db' | 'tell' | 'registry' | 'config'>) {
  const { db, tell, registry, config } = deps

  registry.periodic('plan-interactions-cleaning', {
    everyMs: () => PLAN_EVERY_MS,
    run: () => tell.create(plan),
  })

  /** Keeps one job that waits for its day; none if the feature is disabled. */
  async function plan(unit: Unit): Promise<void> {
    const [known] = await unit.query<Plan>('select due_at as "dueAt", settings from interactions_cleaning where id = 1 for no key update')
    if (!known) throw new DomainError('not_found', 'The row of the cleaning is missing.')
    const repeat = config().vireo.jobs.repeating.activitypub_cleaner
    const isWanted = config().federation.videos.cleanup_remote_interactions
    const settings = `${repeat.interval} ms, ${repeat.hour}:${repeat.minute}`
    const isPlanned = known.settings === settings
    if (!isWanted || !isPlanned) await removeUnstartedJobs(unit.query, JOB)
    const open = await unit.query("select 1 from job where type = $1 and state in ('waiting', 'delayed', 'active') limit 1", [JOB])
    if (!isWanted || open.length > 0) return
    const dueAt = dueOf(isPlanned ? known.dueAt : null, unit.now, repeat)
    await unit.query('update interactions_cleaning set due_at = $1, settings = $2 where id = 1', [dueAt, settings])
    unit.enqueue({ type: JOB, data: {}, dedupeKey: JOB, delayMs: Math.max(0, dueAt.getTime() - unit.now.getTime()) })
  }

  return {
    /** Resumes the round, or begins one. */
    async start(): Promise<CleaningPlace> {
      return await tell.create(async (unit) => {
        const [place] = await unit.query<CleaningPlace>(
          `update interactions_cleaning set kind = coalesce(kind, $1), after_id = coalesce(after_id, 0),
             round_at = coalesce(round_at, $2)
           where id = 1 returning kind, after_id as "afterId", round_at as "roundAt"`,
          [CLEANED_KINDS[0], unit.now],
        )
        if (!place) throw new DomainError('not_found', 'The row of the cleaning is missing.')
        return place
      })
    },

    /** The next batch; undefined at the end of the kind. */
    next({ kind, afterId }: CleaningPlace): Promise<InteractionBatch | undefined> {
      return nextInteractions(db.query, kind, afterId)
    },

    /** Stores the position. Returns the next one; undefined at the end of the round. */
    async moveOn(place: CleaningPlace, reached: number | 'end'): Promise<CleaningPlace | undefined> {
      const kind = reached === 'end' ? CLEANED_KINDS[CLEANED_KINDS.indexOf(place.kind) + 1] : place.kind
      const afterId = reached === 'end' ? 0 : reached
      return await tell.create(async (unit) => {
        const moved = await unit.query(
          `update interactions_cleaning set kind = $4, after_id = $5, round_at = case when $4::text is null then null else round_at end
           where id = 1 and kind = $1 and after_id = $2 and round_at = $3 returning id`,
          [place.kind, place.afterId, place.roundAt, kind ?? null, kind ? afterId : null],
        )
        // Another process has advanced the round after this one lost its lease.
        if (moved.length === 0) throw new DomainError('conflict', 'The round is at another place by now.')
        if (kind) return { kind, afterId, roundAt: place.roundAt }
        // Those objects exist again, are removed, or could not be checked: counting starts again.
        await unit.query('delete from interaction_miss where round_at < $1', [place.roundAt])
        return undefined
      })
    },

    /** Records that its server does not have it. Returns the number of consecutive rounds. */
    async miss({ kind, roundAt }: CleaningPlace, id: number): Promise<number> {
      return await tell.create(async (unit) => {
        const [row] = await unit.query<Columns<typeof InteractionMiss, 'misses'>>(
          `insert into interaction_miss as m (kind, interaction_id, misses, round_at) values ($1, $2, 1, $3)
           on conflict (kind, interaction_id) do update
             set misses = m.misses + (m.round_at < $3)::int, round_at = greatest(m.round_at, $3)
           returning misses`,
          [kind, id, roundAt],
        )
        return row?.misses ?? 0
      })
    },

    /** Leaves the rest of the round to another job. */
    async continueLater({ kind, afterId }: CleaningPlace): Promise<void> {
      // The running job still has the other key.
      await tell.create(async (unit) => unit.enqueue({ type: JOB, data: {}, dedupeKey: `${JOB}-${kind}-${afterId}`, delayMs: REST_MS }))
    },
  }
}

/** `planned`: the last scheduled round; the current settings apply. */
function dueOf(planned: Date | null, now: Date, settings: RepeatSettings): Date {
  if (planned === null) return firstRun(now, settings, randomInt)
  return planned > now ? planned : nextRun(planned, now, settings)
}
