// Upload quotas.

import type { Columns, Sql } from '../../platform/database/index.ts'
import { DomainError, type Unit } from '../runtime/index.ts'
import { quotaUsed } from '../user/index.ts'
import type { User } from '../user/user.entity.ts'

/** Bytes that the user may add; Infinity without quotas. Throws `forbidden` if the user may not upload. */
export async function quotaLeft({ query }: { query: Sql }, userId: number): Promise<number> {
  const [user] = await query<Columns<User, 'videoQuota' | 'videoQuotaDaily'>>(
    'select video_quota, video_quota_daily from users where id = $1 and not blocked',
    [userId],
  )
  if (!user) throw new DomainError('forbidden', 'This user may not upload.')
  if (user.video_quota < 0 && user.video_quota_daily < 0) return Number.POSITIVE_INFINITY
  const used = await quotaUsed({ query }, userId)
  return Math.min(left(user.video_quota, used.total), left(user.video_quota_daily, used.daily))
}

/**
 * Runs in the transaction that stores these bytes. Serialised per user, so that concurrent uploads do not each take the rest of the quota.
 * Throws `too_large`.
 */
export async function refuseOverQuota(unit: Unit, userId: number, bytes: number): Promise<void> {
  await unit.query("select pg_advisory_xact_lock(hashtext('video-quota'), $1)", [userId])
  if (bytes > (await quotaLeft(unit, userId))) throw overQuota()
}

/** The refusal of a file that exceeds a quota. */
export const overQuota = (): DomainError =>
  new DomainError('too_large', 'The video quota of this user is exceeded with this video.', { code: 'quota_reached' })

const left = (quota: number, used: number): number => (quota < 0 ? Number.POSITIVE_INFINITY : Math.max(0, quota - used))
