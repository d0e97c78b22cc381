// The playlist of a page: the elements around the current one, and its video.

import { assertMaySeePlaylist, type ElementRow, findPlaylist, listElements, type PlaylistRow } from '../../actors/playlist/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Visit } from '../../actors/session/index.ts'
import { hasPrivateFiles } from '../../actors/video/index.ts'
import { idOrUuid } from '../plugins/schemas.ts'
import { elementTypeOf, elementTypes } from '../video-playlists/views.ts'
import { seesStrangers } from '../videos/follow-constraints.ts'
import { viewerOf } from '../videos/viewer.ts'
import type { FileToken } from './sources.ts'
import { findWatched, type Watched, type WatchedDeps } from './watched.ts'

export interface WatchedPlaylist {
  playlist: PlaylistRow
  /** Elements of the whole playlist. */
  total: number
  elements: ElementRow[]
  /** Elements that the visitor may watch, with the tokens for their pictures. */
  playable: ReadonlyMap<ElementRow, FileToken>
  /** The current element; undefined if there is nothing to play. */
  current: ElementRow | undefined
  /** The next element. */
  next: ElementRow | undefined
  watched: Watched | undefined
}

export const ELEMENTS_PER_PAGE = 100
const playlistKey = idOrUuid('playlist')

/** `position`: of the current element, from 1; by default the first watchable one. */
export async function findWatchedPlaylist(
  deps: WatchedDeps,
  visit: Visit | null,
  { id, position }: { id: string; position: number | undefined },
): Promise<WatchedPlaylist | undefined> {
  const key = playlistKey.safeParse(id).data
  const playlist = key && (await findPlaylist(deps.db, key))
  if (!key || !playlist) return undefined
  const viewer = viewerOf(visit)
  try {
    assertMaySeePlaylist({ ...playlist, accountId: playlist.account_id }, viewer, { byId: 'id' in key })
  } catch (error) {
    if (error instanceof DomainError) return undefined
    throw error
  }
  const start = Math.floor(((position ?? 1) - 1) / ELEMENTS_PER_PAGE) * ELEMENTS_PER_PAGE
  const { total, rows: elements } = await listElements(deps.db, {
    playlistId: playlist.id,
    start,
    count: ELEMENTS_PER_PAGE,
    watcher: viewer?.accountId,
  })
  const strangers = seesStrangers(deps, visit !== null)
  const playable = elements.filter((element) => elementTypeOf(element, viewer, { strangers }) === elementTypes.regular)
  const current = playable.find((element) => position === undefined || element.position === position)
  const next = current && playable.find((element) => element.position > current.position)
  const watched = current?.video ? await findWatched(deps, visit, { id: current.video.uuid }) : undefined
  const tokenOf = async ({ video }: ElementRow): Promise<FileToken> =>
    video && hasPrivateFiles(video)
      ? (await deps.fileTokens.issue({ video, userId: visit?.user.id, password: undefined })).token
      : undefined
  const tokens = await Promise.all(playable.map(async (element) => [element, await tokenOf(element)] as const))
  return { playlist, total, elements, playable: new Map(tokens), current, next, watched }
}
