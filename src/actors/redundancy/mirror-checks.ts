// Runs the mirroring strategies: periodically, in one process at a time, each chooses the next copies, gives up less deserving ones, and
// extends the rest. Copies that must not be held any more are ended soon, whatever the strategies choose.

import type { Aliased } from '../../platform/database/index.ts'
import { type ActorDeps, DomainError, ignoreNotFound } from '../runtime/index.ts'
import { findCandidates, findCopies, findCopiesOf, findInvalidCopies } from './mirror.queries.ts'
import { type Candidate, lifetimeFor, planMirrors, type StrategySettings } from './mirror-plan.ts'
import { insertPlanned, neededOf, targetsOf } from './planned-copies.ts'
import type { Redundancies } from './redundancy.commands.ts'
import type { RedundancyStrategy } from './redundancy.entity.ts'

export type MirrorDeps = ActorDeps & {
  instanceActorId: () => Promise<number>
  redundancies: Pick<Redundancies, 'remove' | 'renew'>
}

type Claimed = Aliased<typeof RedundancyStrategy, 'id' | 'fullAt' | 'strategy'>

/** How often a process checks whether a strategy is due, in ms; and how soon after copies made room for waiting ones. */
const LOOK_EVERY = 10_000
/** Pause of all strategies after a disk or a quota was full, in ms. */
const FULL_PAUSE = 3_600_000
const CANDIDATES = 50
/** How often copies that must not be held any more are looked for, in ms. */
const LOST_EVERY = 60_000
const LOST = 100

/** Registers the checks. */
export function mirrorByStrategy(deps: MirrorDeps): void {
  const { db, tell, registry, config, clock, logger, instanceActorId, redundancies } = deps

  registry.periodic('mirror-checks', {
    everyMs: () => Math.min(LOOK_EVERY, config().redundancy.videos.check_interval),
    async run() {
      const claimed = await claim()
      if (claimed.length === 0) return
      for (const settings of config().redundancy.videos.strategies) {
        const row = claimed.find(({ strategy }) => strategy === settings.strategy)
        if (!row) continue
        await check(row, settings).catch((error) =>
          logger.error({ err: error, strategy: settings.strategy }, 'what to mirror could not be chosen'),
        )
      }
    },
  })

  registry.periodic('lost-mirrors', {
    everyMs: () => Math.min(LOST_EVERY, config().redundancy.videos.check_interval),
    run: endLost,
  })

  /** One process runs each of them, once per interval; a time far in the future was recorded by a wrong clock. */
  async function claim(): Promise<Claimed[]> {
    const now = clock.now()
    const interval = config().redundancy.videos.check_interval
    return await db.query<Claimed>(
      `update redundancy_strategy s set checked_at = $1
       from (select id from redundancy_strategy where checked_at is null or checked_at <= $2 or checked_at > $3
         order by id for no key update skip locked) due
       where s.id = due.id returning s.id, s.strategy, s.full_at as "fullAt"`,
      [now, new Date(now.getTime() - interval), new Date(now.getTime() + interval)],
    )
  }

  async function check({ id, fullAt }: Claimed, settings: StrategySettings): Promise<void> {
    const { strategy } = settings
    const { check_interval: checkInterval } = config().redundancy.videos
    const now = clock.now()
    const actorId = await instanceActorId()
    const held = await findCopies(db, { instanceActorId: actorId, settings })
    const isFull = fullAt !== null && Math.abs(now.getTime() - fullAt.getTime()) < FULL_PAUSE
    const left = settings.size - held.reduce((sum, { size }) => sum + size, 0)
    const candidates = isFull ? [] : await candidatesFor(settings, { actorId, left })
    const plan = planMirrors({ settings, checkInterval, now, held, candidates })
    const copies = await findCopiesOf(db, { strategy, videoIds: [...plan.evict, ...plan.extend] })
    const evicted = new Set(plan.evict)
    const lifetime = lifetimeFor(settings, checkInterval)
    for (const copy of copies) {
      await ignoreNotFound(evicted.has(copy.videoId) ? redundancies.remove(copy.id) : redundancies.renew(copy.id, lifetime))
    }
    for (const videoId of plan.add) await add(id, { videoId, settings, actorId, lifetime })
    if (plan.isWaiting) await checkSoon(id, checkInterval)
  }

  async function candidatesFor(settings: StrategySettings, { actorId, left }: { actorId: number; left: number }): Promise<Candidate[]> {
    const maxBytes = Math.min(settings.size, config().vireo.federation.fetch.max_mirror_size)
    const options = { instanceActorId: actorId, settings, limit: CANDIDATES }
    const best = await findCandidates(db, { ...options, maxBytes })
    if (best.length < CANDIDATES || left <= 0) return best
    // After many that are too large for the remaining space, there may be smaller ones.
    const smaller = await findCandidates(db, { ...options, maxBytes: Math.min(left, maxBytes) })
    const known = new Set(best.map(({ videoId }) => videoId))
    return [...best, ...smaller.filter(({ videoId }) => !known.has(videoId))]
  }

  /** In the mailbox of the strategy, so that two videos never take the same space. */
  async function add(id: number, wish: { videoId: number; settings: StrategySettings; actorId: number; lifetime: number }): Promise<void> {
    const { videoId, settings, actorId, lifetime } = wish
    const { strategy, size } = settings
    try {
      await tell({ aggregate: 'redundancy_strategy', id }, async (unit) => {
        const targets = neededOf(await targetsOf(unit, videoId))
        const [used] = await unit.query<{ bytes: number }>(
          `select coalesce(sum(size), 0)::float8 as bytes from redundancy
           where strategy = $1 and path is not null and state <> 'failed'`,
          [strategy],
        )
        const wanted = targets.reduce((sum, target) => sum + target.size, 0)
        if ((used?.bytes ?? 0) + wanted > size) throw new DomainError('conflict', 'There is no room for this copy.')
        await insertPlanned(deps, unit, targets, { actorId, strategy, lifetime })
      })
      logger.info({ video: videoId, strategy }, 'a video is to be mirrored')
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      logger.info({ err: error, video: videoId, strategy }, 'a video is not mirrored after all')
    }
  }

  async function checkSoon(id: number, checkInterval: number): Promise<void> {
    const at = clock.now().getTime() - checkInterval + Math.min(LOOK_EVERY, checkInterval)
    await db.query('update redundancy_strategy set checked_at = $2 where id = $1', [id, new Date(at)])
  }

  async function endLost(): Promise<void> {
    const actorId = await instanceActorId()
    for (let after = 0; ; ) {
      const lost = await findInvalidCopies(db, { instanceActorId: actorId, after, limit: LOST })
      for (const { id } of lost) await end(id)
      if (lost.length < LOST) return
      after = lost.at(-1)?.id ?? after
    }
  }

  /** A copy that is locked now is checked again. */
  async function end(id: number): Promise<void> {
    try {
      await ignoreNotFound(redundancies.remove(id))
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      logger.info({ err: error, redundancy: id }, 'a copy that must not be held any more is ended later')
    }
  }
}
