// The user as the user sees it: `GET /users/me`.

import { z } from 'zod'
import type { ActorSummaryRow, MeRow } from '../../actors/user/index.ts'

const date = z.iso.datetime()

const actorView = {
  url: z.string(),
  name: z.string(),
  host: z.string(),
  avatars: z.array(z.unknown()),
  id: z.int(),
  hostRedundancyAllowed: z.boolean(),
  followingCount: z.int(),
  followersCount: z.int(),
  createdAt: date,
  displayName: z.string(),
  description: z.string().nullable(),
  updatedAt: date,
}

export const meView = z
  .object({
    id: z.int(),
    username: z.string(),
    email: z.string(),
    theme: z.string(),
    pendingEmail: z.string().nullable(),
    emailPublic: z.boolean(),
    emailVerified: z.boolean().nullable(),
    nsfwPolicy: z.string(),
    p2pEnabled: z.boolean(),
    videosHistoryEnabled: z.boolean(),
    autoPlayVideo: z.boolean(),
    autoPlayNextVideo: z.boolean(),
    autoPlayNextVideoPlaylist: z.boolean(),
    videoLanguages: z.array(z.string()).nullable(),
    role: z.object({ id: z.int(), label: z.string() }),
    videoQuota: z.int(),
    videoQuotaDaily: z.int(),
    blocked: z.boolean(),
    blockedReason: z.string().nullable(),
    account: z.object({ ...actorView, userId: z.int() }),
    videoChannels: z.array(
      z.object({
        ...actorView,
        banners: z.array(z.unknown()),
        support: z.string().nullable(),
        isLocal: z.boolean(),
      }),
    ),
    createdAt: date,
    lastLoginDate: date.nullable(),
    twoFactorEnabled: z.boolean(),
    adminFlags: z.int(),
  })
  .meta({ id: 'User' })

export const quotaView = z.object({ videoQuotaUsed: z.int(), videoQuotaUsedDaily: z.int() })

const ROLE_LABELS = ['Administrator', 'Moderator', 'User']

/** What a user who has changed nothing gets: settings are stored with the operations that change them. */
const SETTINGS = {
  theme: 'instance-default',
  pendingEmail: null,
  emailPublic: false,
  p2pEnabled: true,
  videosHistoryEnabled: true,
  autoPlayVideo: true,
  autoPlayNextVideo: false,
  autoPlayNextVideoPlaylist: true,
  videoLanguages: null,
}

export function toMeView(me: MeRow, host: string): z.infer<typeof meView> {
  return {
    id: me.id,
    username: me.username,
    email: me.email,
    emailVerified: me.email_verified,
    nsfwPolicy: me.nsfw_policy,
    role: { id: me.role, label: ROLE_LABELS[me.role] ?? 'User' },
    videoQuota: me.video_quota,
    videoQuotaDaily: me.video_quota_daily,
    blocked: me.blocked,
    blockedReason: me.blocked_reason,
    account: { ...toActorView(me.account, host), userId: me.id },
    videoChannels: me.channels.map((channel) => ({
      ...toActorView(channel, host),
      banners: [],
      support: channel.support,
      isLocal: true,
    })),
    createdAt: me.created_at.toISOString(),
    lastLoginDate: me.last_login_at?.toISOString() ?? null,
    twoFactorEnabled: me.two_factor_enabled,
    adminFlags: me.admin_flags,
    ...SETTINGS,
  }
}

const toActorView = (row: ActorSummaryRow, host: string) => ({
  url: row.url,
  name: row.username,
  host,
  avatars: [],
  id: row.id,
  hostRedundancyAllowed: false,
  followingCount: row.following_count,
  followersCount: row.followers_count,
  createdAt: new Date(row.created_at).toISOString(),
  displayName: row.name,
  description: row.description,
  updatedAt: new Date(row.updated_at).toISOString(),
})
