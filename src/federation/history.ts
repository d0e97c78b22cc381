// The job that walks the outbox of a followed actor, page by page; each page is stored before the next one is requested. Objects of third
// servers (videos that a channel only announces) are deferred if that server is unreachable.

import { setTimeout as pause } from 'node:timers/promises'
import type { WaitingComments } from '../actors/comment/index.ts'
import type { HistoryWalk, HistoryWalks } from '../actors/follow/index.ts'
import { DomainError, type JobContext, PermanentFailure } from '../actors/runtime/index.ts'
import type { Shares } from '../actors/share/index.ts'
import type { FederationDeps } from './deps.ts'
import { readCollectionPage } from './fetch/collections.ts'
import { type FetchDocument, isHopeless } from './fetch/documents.ts'
import type { VideoFetcher } from './fetch/videos.ts'
import { isSameOrigin, originOf } from './security/index.ts'
import { type JsonObject, readActivity, typeOf } from './wire/index.ts'

export interface HistoryDeps extends FederationDeps {
  fetchDocument: FetchDocument
  videos: VideoFetcher
  histories: HistoryWalks
  shares: Pick<Shares, 'receiveShare'>
  waitingComments: Pick<WaitingComments, 'askRefresh'>
}

/** Result for an item. `known`: stored before; `away`: cannot be fetched now, and is retried under this address. */
type Outcome = { is: 'new' | 'known' | 'useless' } | { is: 'away'; url: string }

const USELESS: Outcome = { is: 'useless' }

/** Pause between two requests of a walk, in ms. */
const PACE_MS = 50
/** The newest videos of a new follow whose comments are read at once; those of the others are read when somebody views them. */
const WITH_COMMENTS = 100

/** No local actor follows the remote one any more. */
class Unfollowed extends Error {
  override readonly name = 'Unfollowed'
}

/** Consecutive failures after which a server counts as unreachable. */
const FAILURES = 3

export function registerHistoryWalks(deps: HistoryDeps): void {
  const { registry, logger, histories } = deps

  registry.job('activitypub-http-fetcher', {
    queue: 'io',
    async run(job) {
      const walk = await histories.start(Number(job.data.walkId))
      if (!walk) return
      try {
        await makeReader(deps, walk, job).walk()
      } catch (error) {
        // Another process continues at the stored page.
        if (job.signal.aborted) throw error
        if (error instanceof Unfollowed) return
        const reason = error instanceof Error ? error.message : String(error)
        await histories.fail(walk.id, { reason, hopeless: isHopeless(error) })
        logger.info({ outbox: walk.outboxUrl, reason }, 'a history could not be read')
        // The machine of the walk queues the next job.
        throw new PermanentFailure(reason, { cause: error })
      }
    },
    async failed({ data }, reason) {
      await histories.fail(Number(data.walkId), { reason, hopeless: false })
    },
  })
}

function makeReader(deps: HistoryDeps, walk: HistoryWalk, { signal, progress }: JobContext) {
  const { db, logger, config, clock, videos, histories, shares, waitingComments } = deps
  let withComments = 0
  /** Consecutive failures per server: after a few, none of its items is tried again. */
  const failures = new Map<string, number>()
  const own = originOf(walk.outboxUrl)

  /** Called before each request. Throws `Unfollowed` if the result is no longer wanted. */
  async function takeTurn(): Promise<void> {
    await pause(PACE_MS, undefined, { signal })
    if (!(await histories.goesOn(walk.id))) throw new Unfollowed('No local actor follows this actor any more.')
  }

  const fetchDocument: FetchDocument = async (url) => {
    await takeTurn()
    return await deps.fetchDocument(url)
  }

  async function readPages(): Promise<void> {
    let { seen } = walk
    for (let url = walk.nextUrl; url !== null; ) {
      signal.throwIfAborted()
      const askedAt = clock.now()
      const page = await readCollectionPage(fetchDocument, url)
      const items = page.items.slice(0, Math.max(0, config().vireo.federation.backfill.max_items - seen))
      const outcomes: Outcome[] = []
      for (const item of items) {
        signal.throwIfAborted()
        outcomes.push(await takeIn(item, askedAt))
      }
      const meetsKnown = walk.extent === 'newest' && outcomes.some(({ is }) => is === 'known')
      const place = await histories.pageRead(walk.id, {
        url,
        next: meetsKnown ? null : page.next,
        total: page.total,
        items: items.length,
        aside: outcomes.flatMap((outcome) => (outcome.is === 'away' ? [outcome.url] : [])),
      })
      const of = place.total ?? place.seen
      progress(of === 0 ? 0 : Math.min(99, (100 * place.seen) / of))
      logger.info(
        { outbox: walk.outboxUrl, seen: place.seen, total: place.total },
        `history: ${amount(place.seen)} of ${place.total === null ? 'an unknown number' : amount(place.total)}`,
      )
      ;({ seen, nextUrl: url } = place)
    }
  }

  async function tryAside(): Promise<void> {
    for (const url of walk.aside) {
      signal.throwIfAborted()
      if ((await takeIn(url, clock.now())).is !== 'away') await histories.settleItem(walk.id, url)
    }
  }

  /** An activity of the outbox, or the address of one, or of a deferred video. */
  async function takeIn(item: string | JsonObject, pageAskedAt: Date): Promise<Outcome> {
    const document = typeof item === 'string' ? await had(item, () => fetchDocument(item)) : { document: item, askedAt: pageAskedAt }
    if ('is' in document) return document
    if (typeOf(document.document) === 'Video' && typeof item === 'string') {
      const { document: video, askedAt } = document
      return await had(item, async () => shared(await videos.save(video, { askedAt, ofMany: true }), shareOf(item)))
    }
    const read = readActivity(document.document)
    if (!read.ok || read.value.object?.id == null) return USELESS
    const { type, object } = read.value
    const id = read.value.object.id
    if (type !== 'Announce' && !(type === 'Create' && object?.type === 'Video')) return USELESS
    const whole = type === 'Create' && isSameOrigin(id, walk.outboxUrl) ? object?.document : null
    const share = type === 'Announce' ? shareOf(id, read.value.id) : null
    return await had(id, async () => await take(id, { whole: whole ?? null, askedAt: document.askedAt, share }))
  }

  async function take(
    id: string,
    { whole, askedAt, share }: { whole: JsonObject | null; askedAt: Date; share: string | null },
  ): Promise<Outcome> {
    if (walk.extent === 'newest' && (await isFresh(id))) return { is: 'known' }
    if (whole) return await shared(await videos.save(whole, { askedAt, ofMany: true }), share)
    if (!(await isFresh(id))) await takeTurn()
    return await shared(await videos.resolve(id, { notBefore: notBefore(), ofMany: true }), share)
  }

  /** The address of a share: that of its Announce, unless that is unknown or on another server. */
  const shareOf = (videoUrl: string, announce: string | null = null): string =>
    announce !== null && isSameOrigin(announce, walk.outboxUrl) ? announce : `${walk.outboxUrl}#${videoUrl}`

  /** An Announce in an outbox counts as a share, as if it had arrived by itself. */
  async function shared(video: { id: number; isNew: boolean }, share: string | null): Promise<Outcome> {
    if (share !== null) await shares.receiveShare({ videoId: video.id, actorId: walk.actorId, url: share })
    if (walk.extent === 'whole' && withComments < WITH_COMMENTS) {
      withComments += 1
      await waitingComments.askRefresh(video.id)
    }
    return { is: video.isNew ? 'new' : 'known' }
  }

  /** After a new follow everything is read once; later only stale videos. */
  const notBefore = (): Date =>
    walk.extent === 'whole' ? walk.since : new Date(clock.now().getTime() - config().vireo.federation.refresh.video)

  async function isFresh(url: string): Promise<boolean> {
    const found = await db.query('select 1 from video where url_hash = md5($1)::uuid and url = $1 and refreshed_at >= $2', [
      url,
      notBefore(),
    ])
    return found.length > 0
  }

  /** Skips what can never be fetched; defers what cannot be fetched now, with all else of that server. */
  async function had<T>(url: string, work: () => Promise<T>): Promise<T | Outcome> {
    const origin = originOf(url) ?? ''
    if ((failures.get(origin) ?? 0) >= FAILURES) return { is: 'away', url }
    try {
      const found = await work()
      failures.delete(origin)
      return found
    } catch (error) {
      if (!(error instanceof DomainError || isHopeless(error))) throw error
      logger.debug({ outbox: walk.outboxUrl, reason: String(error) }, 'an item of an outbox was passed over')
      if (isHopeless(error)) return USELESS
      failures.set(origin, (failures.get(origin) ?? 0) + 1)
      // The server of the outbox itself is unreachable: the whole page is retried.
      if (origin === own && failures.get(origin) === FAILURES) throw error
      return { is: 'away', url }
    }
  }

  return {
    async walk(): Promise<void> {
      if (walk.nextUrl !== null) await readPages()
      await tryAside()
      await histories.finish(walk.id)
    },
  }
}

const amount = (count: number): string => count.toLocaleString('en')
