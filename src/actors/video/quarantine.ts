// The quarantine of new videos: where the server says so, those of users are blocked until a moderator has looked at them. Nobody
// was told of them before; unblocking is what publishes them.

import type { Config } from '../../config/index.ts'
import type { Sql } from '../../platform/database/index.ts'
import type { Unit } from '../runtime/index.ts'
import { hasRight, type UserRole, userAdminFlags } from '../user/index.ts'
import { storeBlock } from '../video-block/video-block.writes.ts'
import type { Video } from './video.entity.ts'

/** `VideoBlacklistType` of the contract: by a moderator, or until one has looked at it. */
export const videoBlockTypes = { manual: 1, automatic: 2 } as const

const REASON = 'New here: a moderator looks at it before others can see it.'

export interface Uploader {
  role: UserRole
  adminFlags: number
}

/** Whether what somebody uploads waits: not that of those who would decide on it, nor of those who need not wait. Pure. */
export const isQuarantined = ({ role, adminFlags }: Uploader, config: Pick<Config, 'auto_blacklist'>): boolean =>
  config.auto_blacklist.videos.of_users.enabled &&
  !hasRight(role, 'MANAGE_VIDEO_BLACKLIST') &&
  (adminFlags & userAdminFlags.bypassVideoAutoBlacklist) === 0

/** The same of a user, or of whoever has an account. One statement, and none where nobody waits. */
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
 * In the transaction that stores the video or gives it another file. One that is blocked already stays as it is. `unfederated`: other
 * servers do not have it, or are to forget it.
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
