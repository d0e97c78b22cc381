// Playlists with their elements. “Watch later” is merged into the local one.

import { z } from 'zod'
import { type NewElement, playlistPrivacies, playlistTypes } from '../../playlist/index.ts'
import { DomainError } from '../../runtime/index.ts'
import type { ReadPartItem } from '../../user-archive/index.ts'
import { isForNow } from '../guard.ts'
import { findImported, noteImported } from '../imported-objects.ts'
import type { ItemOutcome } from '../item-outcome.ts'
import type { ImportContext, PartImporter } from '../part-importer.ts'
import { viewerOf } from '../references.ts'
import { withWorkFolder } from '../unpack.ts'
import { findOwnChannel } from './channels.ts'
import type { Deps } from './deps.ts'
import { name, readItem, secondsOf, textOrNull } from './fields.ts'
import { withPicture } from './pictures.ts'

type ArchivedPlaylist = ReadPartItem<'video-playlists'>

const fields = z.object({
  displayName: name(1, 120),
  description: textOrNull(3, 1000),
  privacy: z.literal(Object.values(playlistPrivacies)),
  type: z.literal(Object.values(playlistTypes)),
})

/** Elements whose videos cannot be found are left out. */
export function makePlaylistsImporter(deps: Deps): PartImporter<'video-playlists'> {
  const { db, config, createVideo, playlists, playlistElements, references } = deps

  /** The first elements, up to the limit. Each address is looked up once. */
  async function elementsOf(item: ArchivedPlaylist, context: ImportContext): Promise<NewElement[]> {
    const found = new Map<string, number | undefined>()
    const elements: NewElement[] = []
    const most = config().vireo.user_data.import_max_playlist_elements
    for (const { videoUrl, startTimestamp, stopTimestamp } of item.elements.slice(0, most)) {
      context.signal.throwIfAborted()
      if (!found.has(videoUrl)) found.set(videoUrl, await videoOf(videoUrl, context))
      const videoId = found.get(videoUrl)
      if (videoId === undefined) continue
      elements.push({ videoId, startTimestamp: secondsOf(startTimestamp), stopTimestamp: secondsOf(stopTimestamp) })
    }
    return elements
  }

  async function videoOf(url: string, context: ImportContext): Promise<number | undefined> {
    try {
      return await references.video(url, context)
    } catch (error) {
      if (!(error instanceof DomainError) || isForNow(error)) throw error
      return undefined
    }
  }

  /** True if the same user of this server owned it: the archive returned to its origin. */
  async function isOwn(url: string, accountId: number): Promise<boolean> {
    const found = await db.query('select 1 from playlist where url_hash = md5($1)::uuid and url = $1 and not remote and account_id = $2', [
      url,
      accountId,
    ])
    return found.length > 0
  }

  async function watchLater(item: ArchivedPlaylist, context: ImportContext): Promise<ItemOutcome> {
    const { accountId } = context
    const [own] = await db.query<{ id: number; videos: number[] }>(
      `select p.id, array(select e.video_id from playlist_element e where e.playlist_id = p.id and e.video_id is not null) as videos
       from playlist p where p.account_id = $1 and p.type = $2`,
      [accountId, playlistTypes.watchLater],
    )
    if (!own) return { error: 'not_found' }
    const known = new Set(own.videos)
    let added = 0
    for (const element of await elementsOf(item, context)) {
      if (known.has(element.videoId)) continue
      known.add(element.videoId)
      // Another worker may have the lease by now, and would add it too.
      context.signal.throwIfAborted()
      await playlistElements.add(own.id, viewerOf(accountId), element)
      added += 1
    }
    return added > 0 ? 'success' : 'duplicate'
  }

  return {
    part: 'video-playlists',
    async importItem(item, context) {
      const { accountId, signal } = context
      const { displayName, description, privacy, type } = readItem(fields, item)
      if (type === playlistTypes.watchLater) return await watchLater(item, context)
      const key = { accountId, kind: 'playlist', key: item.url } as const
      if ((await isOwn(item.url, accountId)) || (await findImported(db.query, key)) !== undefined) return 'duplicate'
      const called = item.channel?.name
      const channelId = called ? ((await findOwnChannel(deps, { url: item.url, name: called }, accountId)) ?? null) : null
      const elements = await elementsOf(item, context)
      const file = context.file(item.archiveFiles.thumbnail)
      await withWorkFolder(deps, signal, async (unpack) => {
        const picture = await withPicture(deps, { file, unpack, name: 'picture' }, (path) => createVideo.fitPicture('thumbnail', path))
        signal.throwIfAborted()
        await playlists.create(
          viewerOf(accountId),
          { name: displayName, description, privacy, channelId },
          { picture, elements, also: (unit, id) => noteImported(unit, key, id) },
        )
      })
      return 'success'
    },
  }
}
