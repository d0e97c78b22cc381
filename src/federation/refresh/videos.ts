// Jobs that refresh remote videos: their chapters and ratings after each change, and whole videos that are stale.

import { DomainError, PermanentFailure } from '../../actors/runtime/index.ts'
import { findRemoteAddress, type RemoteVideos } from '../../actors/video/index.ts'
import type { FederationDeps } from '../deps.ts'
import { readCollectionPage } from '../fetch/collections.ts'
import { type FetchDocument, isHopeless } from '../fetch/documents.ts'
import { toChapters, type VideoFetcher } from '../fetch/videos.ts'
import { isSameOrigin } from '../security/index.ts'
import { type JsonObject, readChapters, readVideo } from '../wire/index.ts'

/** Chapters that change while they are read are read again this often, then after the next change. */
const ROUNDS = 5

/** Refreshes a video; removes one that is gone from its server. Registers the job that reads chapters. */
export function makeRefreshVideo(
  deps: FederationDeps & { fetchDocument: FetchDocument; videos: VideoFetcher; remoteVideos: RemoteVideos },
): (videoId: number) => Promise<void> {
  const { registry, db, clock, logger, fetchDocument, videos, remoteVideos } = deps

  registry.job('remote-chapters', {
    queue: 'io',
    async run({ data, signal }) {
      const videoId = Number(data.videoId)
      for (let round = 0; round < ROUNDS; round += 1) {
        signal.throwIfAborted()
        const wanted = await remoteVideos.wantedChapters(videoId)
        if (!wanted) return
        const chapters = await chaptersAt(wanted.url)
        if (await ignoreNotFound(remoteVideos.saveChapters(videoId, wanted, chapters))) return
      }
      throw new Error('The chapters change faster than they can be read.')
    },
    failed: ({ data }) => remoteVideos.giveUpChapters(Number(data.videoId)),
  })

  registry.job('remote-rates', {
    queue: 'io',
    async run({ data }) {
      const videoId = Number(data.videoId)
      const url = await findRemoteAddress(db, videoId)
      if (url === undefined) return
      try {
        const { likes, dislikes } = await ratesOf((await fetchDocument(url)).document)
        if (likes !== null && dislikes !== null) {
          await ignoreNotFound(remoteVideos.saveRates(videoId, { likes, dislikes }).then(() => true))
        }
      } catch (error) {
        // Some servers do not count or report ratings.
        if (!isHopeless(error)) throw error
        logger.debug({ err: error, video: url }, 'a remote video does not report its ratings')
      }
    },
  })

  /** From the collections of the video; null if they are not reported. */
  async function ratesOf(document: JsonObject): Promise<{ likes: number | null; dislikes: number | null }> {
    const read = readVideo(document)
    if (!read.ok) throw new DomainError('unprocessable', `The video cannot be read: ${read.problem}`)
    const { id, likes, dislikes } = read.value
    const totalAt = async (url: string | null): Promise<number | null> =>
      url === null || !isSameOrigin(url, id) ? null : bounded((await readCollectionPage(fetchDocument, url)).total)
    return { likes: await totalAt(likes), dislikes: await totalAt(dislikes) }
  }

  /** None if there are none any more. Throws PermanentFailure if they can never be fetched. */
  async function chaptersAt(url: string) {
    try {
      const read = readChapters((await fetchDocument(url)).document)
      if (!read.ok) throw new PermanentFailure(`${url} cannot be read: ${read.problem}`)
      return toChapters(read.value.chapters)
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind === 'unavailable' || error.kind === 'busy') throw error
      if (error.kind === 'not_found' || error.kind === 'gone') return []
      throw new PermanentFailure(error.message, { cause: error })
    }
  }

  return async (videoId) => {
    const url = await findRemoteAddress(db, videoId)
    if (url === undefined) return
    const requestedAt = clock.now()
    try {
      const { document, askedAt } = await fetchDocument(url)
      await videos.save(document, { askedAt })
      await remoteVideos.markRead(videoId)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      if (error.kind === 'not_found' || error.kind === 'gone') {
        logger.info({ video: url }, 'a video was deleted on its server')
        await ignoreNotFound(remoteVideos.remove(videoId, { askedAt: requestedAt }).then(() => true))
      } else if (error.kind === 'unavailable' || error.kind === 'busy') {
        throw error
      } else {
        throw new PermanentFailure(error.message, { cause: error })
      }
    }
  }
}

const MAX_INTEGER = 2_147_483_647
const bounded = (number: number | null): number | null => number && Math.min(number, MAX_INTEGER)

/** True as well if the video is removed. */
async function ignoreNotFound(change: Promise<boolean>): Promise<boolean> {
  try {
    return await change
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'not_found') return true
    throw error
  }
}
