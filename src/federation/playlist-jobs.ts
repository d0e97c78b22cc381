// Jobs for remote playlists: reading one with its elements, and finding those of a followed actor.

import { PLAYLIST_JOB } from '../actors/playlist/index.ts'
import { PermanentFailure } from '../actors/runtime/index.ts'
import type { FederationDeps } from './deps.ts'
import { walkCollection } from './fetch/collections.ts'
import { type FetchDocument, isHopeless } from './fetch/documents.ts'
import type { PlaylistFetcher } from './fetch/playlists.ts'
import { isSameOrigin } from './security/index.ts'
import { readActor } from './wire/index.ts'

/** Limit of playlists that are stored when an actor is followed. */
const MAX_PLAYLISTS = 500

export function registerPlaylistJobs(deps: FederationDeps & { fetchDocument: FetchDocument; playlists: PlaylistFetcher }): void {
  const { registry, db, config, logger, fetchDocument, playlists } = deps

  registry.job(PLAYLIST_JOB, {
    queue: 'io',
    async run({ data, signal }) {
      try {
        await playlists.refresh(Number(data.playlistId), signal)
      } catch (error) {
        if (isHopeless(error)) throw new PermanentFailure(String(error), { cause: error })
        throw error
      }
    },
  })

  registry.on('FollowAccepted', 'playlists', async ({ followId }, unit) => {
    unit.enqueue({ type: 'playlists-of-followed', data: { followId }, dedupeKey: `playlists-of-followed-${followId}` })
  })

  registry.job('playlists-of-followed', {
    queue: 'io',
    async run({ data, signal }) {
      const [target] = await db.query<{ url: string }>(
        `select a.url from follow f join actor a on a.id = f.target_id
         where f.id = $1 and f.state = 'accepted' and a.host_id is not null`,
        [data.followId],
      )
      if (!target) return
      try {
        await takeIn(target.url, signal)
      } catch (error) {
        if (isHopeless(error)) throw new PermanentFailure(String(error), { cause: error })
        throw error
      }
    },
  })

  async function takeIn(actorUrl: string, signal: AbortSignal): Promise<void> {
    const read = readActor((await fetchDocument(actorUrl)).document)
    const collection = read.ok ? read.value.playlists : null
    if (collection === null || !isSameOrigin(collection, actorUrl)) return
    const bounds = { maxPages: config().vireo.federation.backfill.max_pages, maxItems: MAX_PLAYLISTS }
    for await (const item of walkCollection(fetchDocument, collection, bounds)) {
      signal.throwIfAborted()
      const url = typeof item === 'string' ? item : String(item.id)
      if (!isSameOrigin(url, actorUrl)) continue
      try {
        await playlists.resolve(url)
      } catch (error) {
        if (!isHopeless(error)) throw error
        logger.debug({ playlist: url, reason: String(error) }, 'a playlist was passed over')
      }
    }
  }
}
