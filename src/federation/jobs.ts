// Jobs of the federation: follow requests to a host or handle (by the instance, or by a user to a channel), and new counts for followers.

import type { Follows } from '../actors/follow/index.ts'
import { DomainError, PermanentFailure } from '../actors/runtime/index.ts'
import type { FederationDeps } from './deps.ts'
import type { ResolveActor } from './fetch/actors.ts'
import type { Discovery } from './fetch/discovery.ts'
import { isHopeless } from './fetch/documents.ts'

export function registerFederationJobs(
  deps: FederationDeps & {
    instanceActorId: () => Promise<number>
    discovery: Discovery
    resolveActor: ResolveActor
    follows: Follows
  },
): void {
  const { db, registry, tell, clock, config, logger, discovery, resolveActor, follows } = deps

  registry.job('activitypub-follow', {
    queue: 'io',
    async run({ id, data }) {
      try {
        const followerId = data.followerId ? Number(data.followerId) : await deps.instanceActorId()
        const targetId = await targetOf(data)
        if (!(await isWanted(id)) || !(await isFollower(data))) return
        const automatic = data.followBackOf !== undefined || data.fromIndex !== undefined
        const { followId } = await follows.request({ followerId, targetId, automatic })
        if (!(await isWanted(id))) await follows.withdraw(followId)
      } catch (error) {
        if (isHopeless(error)) throw new PermanentFailure(String(error), { cause: error })
        if (!(error instanceof DomainError)) throw error
        await askAgain(id, data, error)
      }
    },
  })

  /** False if the follower withdrew it, possibly while a slow server was being asked. */
  async function isWanted(jobId: number): Promise<boolean> {
    const [job] = await db.query<{ state: string }>('select state from job where id = $1', [jobId])
    return job?.state !== 'cancelled'
  }

  /** False for a follow-back if the follower has left or was rejected or removed meanwhile. */
  async function isFollower({ followBackOf }: Record<string, string | number>): Promise<boolean> {
    if (followBackOf === undefined) return true
    const rows = await db.query("select 1 from follow where id = $1 and state = 'accepted'", [Number(followBackOf)])
    return rows.length > 0
  }

  /** Row of the target actor: a stored one, the instance actor of a host, or that of a handle. */
  async function targetOf(data: Record<string, string | number>): Promise<number> {
    if (data.actorId) return Number(data.actorId)
    const url = data.host ? await discovery.instanceActorOf(String(data.host)) : await discovery.actorOf(String(data.handle))
    const target = await resolveActor(url)
    // Users follow channels only.
    if (data.followerId && target.channelId === null) throw new DomainError('unprocessable', `${url} is no channel.`)
    return target.id
  }

  /** An unreachable server is asked again by the back-off of follows, as long as they are repeated. */
  async function askAgain(id: number, data: Record<string, string | number>, cause: DomainError): Promise<void> {
    const { initial_backoff, max_backoff, retry_for } = config().vireo.federation.follow
    const now = clock.now().getTime()
    const askedAt = Number(data.askedAt ?? now)
    const tries = Number(data.tries ?? 0) + 1
    if (now - askedAt >= retry_for) throw new PermanentFailure(cause.message, { cause })
    const target = data.host ?? data.handle ?? data.actorId
    await tell.create(async (unit) => {
      // A concurrent withdrawal waits for this row, and then finds the next job.
      const wanted = await unit.query("select 1 from job where id = $1 and state <> 'cancelled' for share", [id])
      if (wanted.length === 0) return
      logger.info({ target, reason: cause.message }, 'a follow is requested again later')
      unit.enqueue({
        type: 'activitypub-follow',
        data: { ...data, askedAt, tries },
        dedupeKey: `follow-${data.followerId ?? ''}-${String(target).toLowerCase()}-${tries}`,
        delayMs: Math.min(max_backoff, initial_backoff * 2 ** (tries - 1)),
      })
    })
  }

  registry.job('federate-video', {
    queue: 'io',
    async run({ data }) {
      const videoId = Number(data.videoId)
      try {
        await tell({ aggregate: 'video', id: videoId }, async (unit) =>
          unit.emit({ aggregate: 'video', id: videoId }, 'VideoUpdated', { videoId }),
        )
      } catch (error) {
        if (!(error instanceof DomainError && error.kind === 'not_found')) throw error
      }
    },
  })
}
