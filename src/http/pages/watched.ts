// What requesters may watch: the video of a page, with the token for its private files, a playlist around its current element, and lists.

import { assertMaySeePlaylist, type ElementRow, findPlaylist, listElements } from '../../actors/playlist/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Visit } from '../../actors/session/index.ts'
import {
  assertFollowed,
  assertMaySee,
  findWatchedVideo,
  hasPrivateFiles,
  listVideos,
  type VideoListQuery,
  type WatchedVideoRow,
} from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import { idOrUuid } from '../plugins/schemas.ts'
import { elementTypeOf, elementTypes } from '../video-playlists/views.ts'
import { seesStrangers } from '../videos/follow-constraints.ts'
import { viewerOf } from '../videos/viewer.ts'
import { PAGE_COUNT } from './fields.ts'
import type { PageTools } from './send.ts'
import type { FileToken } from './sources.ts'

export type Watched =
  /** The video does not exist or is hidden; the page does not reveal which. */
  { found: 'nothing' } | { found: 'locked'; isWrong: boolean } | { found: 'video'; video: WatchedVideoRow; fileToken: string | undefined }

type WatchedDeps = Pick<PageTools, 'db' | 'config' | 'fileTokens'>

const videoKey = idOrUuid('video')
const WRONG = 'incorrect_video_password'

/**
 * `visit`: the viewer; null for visitors, and in frames of other sites. Unlisted videos are not found by their number. `password` is what
 * was entered.
 */
export async function findWatched(
  { db, config, fileTokens }: WatchedDeps,
  visit: Visit | null,
  { id, password }: { id: string; password?: string | undefined },
): Promise<Watched> {
  const key = videoKey.safeParse(id).data
  if (!key) return { found: 'nothing' }
  const viewer = viewerOf(visit)
  const video = await findWatchedVideo(db, key, {
    password,
    watcher: viewer?.accountId,
    sensitive: sensitivePolicy(config(), visit) !== 'do_not_list',
  })
  if (!video) return { found: 'nothing' }
  try {
    const guarded = { ...video, ownerAccountId: video.owner_account_id }
    assertMaySee(guarded, viewer, { byId: 'id' in key, password: video.password })
    assertFollowed(video, viewer, config().search.remote_uri)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const isLocked = error.code === WRONG || error.code === 'video_requires_password'
    return isLocked ? { found: 'locked', isWrong: error.code === WRONG } : { found: 'nothing' }
  }
  if (!hasPrivateFiles(video)) return { found: 'video', video, fileToken: undefined }
  const { token } = await fileTokens.issue({ video, userId: visit?.user.id, password })
  return { found: 'video', video, fileToken: token }
}

/** True if the pictures of sensitive videos are covered in lists. */
export const coversOf = (config: Config, visit: Visit | null): boolean =>
  warnsOf(config, visit) && sensitivePolicy(config, visit) !== 'warn'

export const warnsOf = (config: Config, visit: Visit | null): boolean => sensitivePolicy(config, visit) !== 'display'

export const sensitivePolicy = ({ instance }: Config, visit: Visit | null): string => visit?.nsfwPolicy ?? instance.default_nsfw_policy

export type VideoPage = Awaited<ReturnType<typeof videoPage>>

type Wanted = Pick<VideoListQuery, 'scope'> & Partial<VideoListQuery> & { page: number }

/** A page of public videos, counted from 1, in one statement, without a count; `visit`: the viewer, null for visitors. */
export async function videoPage({ db, config }: Pick<PageTools, 'db' | 'config'>, visit: Visit | null, { page, ...wanted }: Wanted) {
  const policy = sensitivePolicy(config(), visit)
  const { rows } = await listVideos(db, {
    internal: false,
    start: (page - 1) * PAGE_COUNT,
    count: PAGE_COUNT + 1,
    skipCount: true,
    sort: { by: 'publishedAt', descending: true },
    mutedFor: visit?.user.accountId ?? null,
    ...(policy === 'do_not_list' ? { nsfw: false } : {}),
    ...wanted,
  })
  return { rows: rows.slice(0, PAGE_COUNT), page, hasMore: rows.length > PAGE_COUNT, covers: coversOf(config(), visit) }
}

export type WatchedPlaylist = NonNullable<Awaited<ReturnType<typeof findWatchedPlaylist>>>

export const ELEMENTS_PER_PAGE = 100
const playlistKey = idOrUuid('playlist')

/**
 * `position`: of the current element, from 1; by default the first watchable one. `playable` has those that the viewer may watch, with the
 * tokens for their pictures; `current` and `next` are undefined if there is nothing to play.
 */
export async function findWatchedPlaylist(
  deps: WatchedDeps,
  visit: Visit | null,
  { id, position }: { id: string; position: number | undefined },
) {
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
  return { playlist, total, elements, playable: new Map<ElementRow, FileToken>(tokens), current, next, watched }
}
