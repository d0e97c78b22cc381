// The job `activitypub-cleaner`: asks other servers whether the likes, dislikes, shares and comments of their actors on local videos still
// exist, and removes those that are permanently gone. It can be killed and continues where it was.

import type { Comments } from '../actors/comment/index.ts'
import type { CleaningPlace, InteractionCleaning, RemoteInteraction } from '../actors/interaction/index.ts'
import type { Ratings } from '../actors/rating/index.ts'
import { DomainError, ignoreNotFound } from '../actors/runtime/index.ts'
import type { Shares } from '../actors/share/index.ts'
import type { FederationDeps } from './deps.ts'
import type { FetchDocument } from './fetch/documents.ts'

/** Servers that are asked in parallel, one request at a time each. */
const HOSTS_AT_ONCE = 5
/** Requests to one server per part of a round. */
const MAX_OF_HOST = 500
/** Consecutive rounds in which an object must be missing: it may come back. */
const MISSES = 2

/** Result of asking for an object. `silent`: its server cannot answer now, for this object or any other. */
type Found = 'there' | 'gone' | 'missing' | 'unknown' | 'silent'

export function cleanInteractions(
  deps: FederationDeps & {
    fetchDocument: FetchDocument
    cleaning: InteractionCleaning
    comments: Pick<Comments, 'removeLost'>
    ratings: Pick<Ratings, 'removeReceivedRating'>
    shares: Pick<Shares, 'removeShare'>
  },
): void {
  const { registry, config, clock, logger, fetchDocument, cleaning, comments, ratings, shares } = deps

  const isWanted = () => config().federation.videos.cleanup_remote_interactions

  registry.job('activitypub-cleaner', {
    queue: 'io',
    async run({ signal }) {
      if (!isWanted()) return
      const { ttl } = config().vireo.jobs.types['activitypub-cleaner']
      const until = ttl === null ? null : clock.now().getTime() + ttl / 2
      const part = { asked: new Map<number, number>(), silent: new Set<number>(), removed: 0 }
      for (let place: CleaningPlace | undefined = await cleaning.start(); place && isWanted(); ) {
        const batch = await cleaning.next(place)
        const groups = Map.groupBy(batch?.interactions ?? [], ({ hostId }) => hostId)
        const isEnough = [...groups].some(([host, { length }]) => {
          const before = part.asked.get(host) ?? 0
          return before > 0 && before + length > MAX_OF_HOST && !part.silent.has(host)
        })
        if (isEnough || (until !== null && clock.now().getTime() > until)) {
          await cleaning.continueLater(place)
          break
        }
        await askAll([...groups.values()], place, part, signal)
        place = await cleaning.moveOn(place, batch?.lastId ?? 'end')
      }
      logger.info({ hosts: part.asked.size, removed: part.removed }, 'interactions of other servers were looked for')
    },
  })

  interface Part {
    /** Requests by host. */
    asked: Map<number, number>
    silent: Set<number>
    removed: number
  }

  async function askAll(groups: RemoteInteraction[][], place: CleaningPlace, part: Part, signal: AbortSignal) {
    const left = groups.toReversed()
    const work = async () => {
      for (let group = left.pop(); group; group = left.pop()) await askHost(group, place, part, signal)
    }
    // Waits for all before it reports a failure, so that nothing runs after the job.
    const ends = await Promise.allSettled(Array.from({ length: HOSTS_AT_ONCE }, work))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  async function askHost(group: RemoteInteraction[], place: CleaningPlace, part: Part, signal: AbortSignal) {
    for (const interaction of group) {
      signal.throwIfAborted()
      const { hostId, id, url } = interaction
      if (part.silent.has(hostId)) return
      part.asked.set(hostId, (part.asked.get(hostId) ?? 0) + 1)
      const found = await lookFor(url)
      if (found === 'silent') part.silent.add(hostId)
      const isGone = found === 'gone' || (found === 'missing' && (await cleaning.miss(place, id)) >= MISSES)
      if (!isGone) continue
      logger.info({ url, kind: place.kind, found }, 'something that its server does not have any more is removed')
      await ignoreNotFound(remove(place, interaction))
      part.removed += 1
    }
  }

  async function lookFor(url: string): Promise<Found> {
    try {
      const { document } = await fetchDocument(url)
      return document.type === 'Tombstone' ? 'gone' : 'there'
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      if (error.kind === 'gone') return 'gone'
      if (error.kind === 'not_found') return 'missing'
      return error.kind === 'unavailable' || error.kind === 'busy' ? 'silent' : 'unknown'
    }
  }

  async function remove({ kind }: CleaningPlace, interaction: RemoteInteraction): Promise<void> {
    const { id, url, videoId, actorId, accountId } = interaction
    if (kind === 'comment') return await comments.removeLost(id)
    if (kind === 'share') return await shares.removeShare({ videoId, actorId, only: { url } })
    if (accountId !== null) await ratings.removeReceivedRating({ videoId, accountId, only: { id, url } })
  }
}
