// Handles a player's report: counts it for the video, and stores the position of a logged-in user.

import { z } from 'zod'
import type { History } from '../../actors/history/index.ts'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import type { Session } from '../../actors/session/index.ts'
import { assertFollowed, assertMaySee, findWatchableVideo, videoPrivacies } from '../../actors/video/index.ts'
import type { Views } from '../../actors/view/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { IdOrUuid } from '../plugins/schemas.ts'
import { viewerOf } from '../videos/viewer.ts'

const LARGEST_SECOND = 2_147_483_647
const LONGEST_SESSION = 200

/** Unknown events and sessions are ignored: the player is still watching. */
export const viewing = z.object({
  currentTime: z.int().min(0).max(LARGEST_SECOND),
  viewEvent: z.enum(['seek']).optional().catch(undefined),
  sessionId: z.string().min(1).max(LONGEST_SESSION).optional().catch(undefined),
})

export interface Watching {
  key: IdOrUuid
  body: z.infer<typeof viewing>
  /** The viewer; null for visitors. */
  session: Session | null
  /** Of the client. */
  address: string
  /** For a password-protected video. */
  password: string | undefined
}

/** Throws `not_found`, `unauthenticated`, `forbidden`, and `invalid` for a position after the end of the video. */
export type Watch = (watching: Watching) => Promise<void>

export function makeWatch(deps: { db: Database; config: () => Config; views: Views; history: History }): Watch {
  const { db, config, views, history } = deps
  return async ({ key, body, session, address, password }) => {
    const video = await findWatchableVideo(db, key, password)
    if (!video) throw notFound('Video not found')
    try {
      assertMaySee(video, viewerOf(session), { byId: 'id' in key, password: video.password })
      assertFollowed(video, viewerOf(session), config().search.remote_uri)
    } catch (error) {
      // Players on pages that ask for a password report as well: ignored without an error.
      if (video.privacy === videoPrivacies.passwordProtected && video.password === 'none') return
      throw error
    }
    const { currentTime, viewEvent, sessionId } = body
    if (!video.isLive && currentTime > video.duration) {
      throw new DomainError('invalid', `Current time ${currentTime} is invalid (video ${video.uuid} duration: ${video.duration})`)
    }
    const accountId = session?.user.accountId
    await Promise.all([
      views.watch({
        videoId: video.id,
        watcher: { session: sessionId, address },
        seconds: currentTime,
        isSeek: viewEvent === 'seek',
      }),
      accountId === undefined ? undefined : history.remember({ accountId, videoId: video.id, seconds: currentTime }),
    ])
  }
}
