// Local playlists with their pages and elements, as other servers read them.

import { assertMaySeePlaylist, findPlaylistKey } from '../../actors/playlist/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import type { CachedAnswer } from '../cache.ts'
import { playlistDocument, playlistElementDocument } from '../documents/index.ts'
import type { VideoKey } from './access.ts'
import { activity, redirect } from './answers.ts'
import type { Page } from './collection.ts'
import type { DispatcherDeps } from './deps.ts'

type Deps = Pick<DispatcherDeps, 'db' | 'urls' | 'config'>

const MISSING = 'Video playlist not found'

/** A playlist or a page of it; a redirect for a remote one. Two statements. */
export async function playlistAnswer({ db, urls, config }: Deps, key: VideoKey, page: Page): Promise<CachedAnswer> {
  const playlist = await accessiblePlaylist(db, key)
  if (playlist.remote) return redirect(playlist.url)
  const size = config().vireo.federation.collection_page_items
  const found = await playlistDocument(db.query, urls, playlist.id, page === null ? undefined : { number: page, size })
  if (!found) throw notFound(MISSING)
  return activity(found.document)
}

/** An element of a local playlist. Two statements. */
export async function playlistElementAnswer({ db, urls }: Deps, key: VideoKey, elementId: number): Promise<CachedAnswer> {
  const playlist = await accessiblePlaylist(db, key)
  const document = await playlistElementDocument(db.query, urls, playlist.id, elementId)
  if (!document) throw notFound('Video playlist element not found')
  return activity(document)
}

async function accessiblePlaylist(db: Deps['db'], key: VideoKey) {
  const playlist = await findPlaylistKey(db, key)
  if (!playlist) throw notFound(MISSING)
  assertMaySeePlaylist(playlist, null, { byId: 'id' in key })
  return playlist
}
