// Quarantine: if the server is configured so, new videos of users are blocked until a moderator has reviewed them. Nobody is notified
// before; unblocking publishes them.

import type { Config } from '../../config/index.ts'
import type { Aliased, Sql } from '../../platform/database/index.ts'
import type { Unit } from '../runtime/index.ts'
import { hasRight, userAdminFlags } from '../user/index.ts'
import type { User } from '../user/user.entity.ts'
import { copyBlock, storeBlock } from '../video-block/video-block.writes.ts'
import type { Video } from './video.entity.ts'

/** `VideoBlacklistType` of the contract: blocked by a moderator, or automatically until reviewed. */
export const videoBlockTypes = { manual: 1, automatic: 2 } as const

const REASON = 'New here: a moderator looks at it before others can see it.'

export type Uploader = Aliased<User, 'role' | 'adminFlags'>

/** True if uploads of this user need a review. Moderators and trusted users are exempt. Pure. */
export const isQuarantined = ({ role, adminFlags }: Uploader, config: Pick<Config, 'auto_blacklist'>): boolean =>
  config.auto_blacklist.videos.of_users.enabled &&
  !hasRight(role, 'MANAGE_VIDEO_BLACKLIST') &&
  (adminFlags & userAdminFlags.bypassVideoAutoBlacklist) === 0

/** The same for a user or the owner of an account. One statement, none if no review is configured. */
export async function mustWait(
  query: Sql,
  by: { userId: number } | { accountId: number },
  config: Pick<Config, 'auto_blacklist'>,
): Promise<boolean> {
  if (!config.auto_blacklist.videos.of_users.enabled) return false
  const [found] =
    'userId' in by
      ? await query<Uploader>('select role, admin_flags as "adminFlags" from users where id = $1', [by.userId])
      : await query<Uploader>(
          `select u.role, u.admin_flags as "adminFlags" from account a join users u on u.id = a.user_id where a.id = $1`,
          [by.accountId],
        )
  return found !== undefined && isQuarantined(found, config)
}

/**
 * Runs in the transaction that stores the video or replaces its file. A blocked video stays as it is. `unfederated`: other servers do not
 * have the video, or must delete it.
 */
export async function quarantine(
  unit: Unit,
  video: Pick<Video, 'id' | 'blocked'>,
  { unfederated }: { unfederated: boolean },
): Promise<void> {
  const isNew = await storeBlock(unit, { videoId: video.id, type: videoBlockTypes.automatic, reason: REASON, unfederated })
  video.blocked = true
  if (isNew) unit.emit({ aggregate: 'video', id: video.id }, 'VideoBlocked', { videoId: video.id })
}

/** Blocks a new video like the one that it was made from, whose row is locked. */
export async function inheritBlock(unit: Unit, video: Pick<Video, 'id' | 'blocked'>, from: number): Promise<void> {
  if (!(await copyBlock(unit, { from, to: video.id }))) return
  video.blocked = true
  unit.emit({ aggregate: 'video', id: video.id }, 'VideoBlocked', { videoId: video.id })
}
