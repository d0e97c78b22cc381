// Jobs of the federation: asking to follow a host or handle, fetching the history of who was followed, and telling
// followers of new counts.

import type { Follows } from '../actors/follow/index.ts'
import { DomainError, PermanentFailure } from '../actors/runtime/index.ts'
import type { FederationDeps } from './deps.ts'
import type { ResolveActor } from './fetch/actors.ts'
import { walkCollection } from './fetch/collections.ts'
import type { Discovery } from './fetch/discovery.ts'
import type { FetchDocument } from './fetch/documents.ts'
import type { VideoFetcher } from './fetch/videos.ts'
import { isSameOrigin } from './security/index.ts'
import { type JsonObject, readActivity } from './wire/index.ts'

export function registerFederationJobs(
  deps: FederationDeps & {
    instanceActorId: () => Promise<number>
    discovery: Discovery
    resolveActor: ResolveActor
    fetchDocument: FetchDocument
    videos: VideoFetcher
    follows: Follows
  },
): void {
  const { registry, tell, db, clock, config, logger, discovery, resolveActor, fetchDocument, videos, follows } = deps

  registry.job('activitypub-follow', {
    queue: 'io',
    async run({ data }) {
      try {
        const url = data.host
          ? await discovery.instanceActorOf(String(data.host))
          : await discovery.actorOf(String(data.handle))
        const target = await resolveActor(url)
        await follows.request({ followerId: await deps.instanceActorId(), targetId: target.id })
      } catch (error) {
        if (isHopeless(error)) throw new PermanentFailure(String(error), { cause: error })
        if (!(error instanceof DomainError)) throw error
        await askAgain(data, error)
      }
    },
  })

  /** A server that cannot be reached now is asked again by the back-off of follows, as long as they are repeated. */
  async function askAgain(data: Record<string, string | number>, cause: DomainError): Promise<void> {
    const { initial_backoff, max_backoff, retry_for } = config().vireo.federation.follow
    const now = clock.now().getTime()
    const askedAt = Number(data.askedAt ?? now)
    const tries = Number(data.tries ?? 0) + 1
    if (now - askedAt >= retry_for) throw new PermanentFailure(cause.message, { cause })
    logger.info({ target: data.host ?? data.handle, reason: cause.message }, 'a follow is asked again later')
    await tell.create(async (unit) =>
      unit.enqueue({
        type: 'activitypub-follow',
        data: { ...data, askedAt, tries },
        dedupeKey: `follow-${String(data.host ?? data.handle).toLowerCase()}-${tries}`,
        delayMs: Math.min(max_backoff, initial_backoff * 2 ** (tries - 1)),
      }),
    )
  }

  registry.job('activitypub-http-fetcher', {
    queue: 'io',
    async run({ data, signal, progress }) {
      const [target] = await db.query<{ id: number; outbox_url: string | null; asked_at: Date }>(
        `select a.id, a.outbox_url, f.updated_at as asked_at from follow f join actor a on a.id = f.target_id
         where f.id = $1 and f.state = 'accepted' and a.host_id is not null`,
        [data.followId],
      )
      if (!target?.outbox_url) return
      const { max_pages, max_items } = config().vireo.federation.backfill
      let seen = 0
      let missed = 0
      for await (const item of walkCollection(fetchDocument, target.outbox_url, {
        maxPages: max_pages,
        maxItems: max_items,
      })) {
        signal.throwIfAborted()
        seen += 1
        progress(Math.min(99, seen))
        if (!(await takeIn(item, target.outbox_url, target.asked_at))) missed += 1
      }
      // What is stored already is passed over quickly when the job is tried again.
      if (missed > 0) throw new Error(`${missed} of ${seen} items could not be had now.`)
      logger.info({ follow: data.followId, items: seen }, 'the history of a followed actor was read')
    },
  })

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

  /**
   * One activity of an outbox: a video that its actor made or announces. One that we have from an earlier follow is read
   * anew, unless that was done since `askedAt`. What can never be had is passed over; answers false for what cannot be had
   * now.
   */
  async function takeIn(item: string | JsonObject, outboxUrl: string, askedAt: Date): Promise<boolean> {
    try {
      const read = readActivity(typeof item === 'string' ? (await fetchDocument(item)).document : item)
      if (!read.ok || read.value.object?.id == null) return true
      const { type, object } = read.value
      if (type === 'Create' && object.type === 'Video' && object.document && isSameOrigin(object.id ?? '', outboxUrl)) {
        await videos.save(object.document)
      } else if ((type === 'Announce' || (type === 'Create' && object.type === 'Video')) && object.id !== null) {
        await videos.resolve(object.id, { notBefore: askedAt })
      }
      return true
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      logger.debug({ outbox: outboxUrl, reason: error.message }, 'an item of an outbox was passed over')
      return isHopeless(error)
    }
  }
}

/** Refusals that another try cannot change. */
export const isHopeless = (error: unknown): boolean =>
  error instanceof DomainError && error.kind !== 'unavailable' && error.kind !== 'busy'
