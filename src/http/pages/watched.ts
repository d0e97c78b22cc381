// The video of a page, if the requester may watch it, and the token for its private files.

import { DomainError } from '../../actors/runtime/index.ts'
import type { Visit } from '../../actors/session/index.ts'
import {
  assertFollowed,
  assertMaySee,
  type FileTokens,
  findWatchedVideo,
  hasPrivateFiles,
  type WatchedVideoRow,
} from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { idOrUuid } from '../plugins/schemas.ts'
import { viewerOf } from '../videos/viewer.ts'

export type Watched =
  /** The video does not exist or is hidden; the page does not reveal which. */
  | { found: 'nothing' }
  /** It asks for a password. */
  | { found: 'locked'; isWrong: boolean }
  | { found: 'video'; video: WatchedVideoRow; fileToken: string | undefined }

export interface WatchedDeps {
  db: Database
  config: () => Config
  fileTokens: Pick<FileTokens, 'issue'>
}

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

/** True if the viewer gets a warning before sensitive videos. */
export const warnsOf = (config: Config, visit: Visit | null): boolean => sensitivePolicy(config, visit) !== 'display'

/** The viewer's policy for sensitive videos. */
export const sensitivePolicy = ({ instance }: Config, visit: Visit | null): string => visit?.nsfwPolicy ?? instance.default_nsfw_policy
