// The current user's own view: `GET /users/me`.

import { z } from 'zod'
import { notificationDefaults } from '../../actors/notification-setting/index.ts'
import type { ActorSummaryRow, MeRow, UserRow } from '../../actors/user/index.ts'
import { imageView, toAvatarViews, toBannerViews } from '../videos/actor.view.ts'
import { notificationSettingsView } from './schemas.ts'

const date = z.iso.datetime()

const actorView = {
  url: z.string(),
  name: z.string(),
  host: z.string(),
  avatars: z.array(imageView),
  id: z.int(),
  hostRedundancyAllowed: z.boolean(),
  followingCount: z.int(),
  followersCount: z.int(),
  createdAt: date,
  displayName: z.string(),
  description: z.string().nullable(),
  updatedAt: date,
}

/** A user, as the user and the staff see it. */
export const userView = z
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
    noInstanceConfigWarningModal: z.boolean(),
    noWelcomeModal: z.boolean(),
    noAccountSetupWarningModal: z.boolean(),
    blocked: z.boolean(),
    blockedReason: z.string().nullable(),
    account: z.object({ ...actorView, userId: z.int() }),
    videoChannels: z.array(
      z.object({
        ...actorView,
        banners: z.array(imageView),
        support: z.string().nullable(),
        isLocal: z.boolean(),
      }),
    ),
    createdAt: date,
    pluginAuth: z.string().nullable(),
    lastLoginDate: date.nullable(),
    twoFactorEnabled: z.boolean(),
    adminFlags: z.int(),
  })
  .meta({ id: 'User' })

export const withNotices = { notificationSettings: notificationSettingsView }

export const meView = userView
  .extend({
    ...withNotices,
    specialPlaylists: z.array(z.object({ id: z.int(), name: z.string(), type: z.int() })),
  })
  .meta({ id: 'MyUser' })

export const quotaView = z.object({ videoQuotaUsed: z.int(), videoQuotaUsedDaily: z.int() })

const ROLE_LABELS = ['Administrator', 'Moderator', 'User']

export const toMeView = (me: MeRow, host: string): z.infer<typeof meView> => ({
  ...toUserView(me, host),
  notificationSettings: toNotices(me),
  specialPlaylists: me.special_playlists,
})

export const toNotices = (user: Pick<UserRow, 'notification_settings'>) => user.notification_settings ?? notificationDefaults

export function toUserView(me: UserRow, host: string): z.infer<typeof userView> {
  return {
    id: me.id,
    username: me.username,
    email: me.email,
    theme: me.theme,
    pendingEmail: me.pending_email,
    emailPublic: me.email_public,
    emailVerified: me.email_verified,
    nsfwPolicy: me.nsfw_policy,
    p2pEnabled: me.p2p_enabled,
    videosHistoryEnabled: me.videos_history_enabled,
    autoPlayVideo: me.auto_play_video,
    autoPlayNextVideo: me.auto_play_next_video,
    autoPlayNextVideoPlaylist: me.auto_play_next_video_playlist,
    videoLanguages: me.video_languages,
    role: { id: me.role, label: ROLE_LABELS[me.role] ?? 'User' },
    videoQuota: me.video_quota,
    videoQuotaDaily: me.video_quota_daily,
    noInstanceConfigWarningModal: me.no_instance_config_warning_modal,
    noWelcomeModal: me.no_welcome_modal,
    noAccountSetupWarningModal: me.no_account_setup_warning_modal,
    blocked: me.blocked,
    blockedReason: me.blocked_reason,
    account: { ...toActorView(me.account, host), userId: me.id },
    videoChannels: me.channels.map((channel) => ({
      ...toActorView(channel, host),
      banners: toBannerViews(channel.banners),
      support: channel.support,
      isLocal: true,
    })),
    createdAt: me.created_at.toISOString(),
    pluginAuth: me.plugin_auth,
    lastLoginDate: me.last_login_at?.toISOString() ?? null,
    twoFactorEnabled: me.two_factor_enabled,
    adminFlags: me.admin_flags,
  }
}

const toActorView = (row: ActorSummaryRow, host: string) => ({
  url: row.url,
  name: row.username,
  host,
  avatars: toAvatarViews(row.avatars),
  id: row.id,
  hostRedundancyAllowed: false,
  followingCount: row.following_count,
  followersCount: row.followers_count,
  createdAt: new Date(row.created_at).toISOString(),
  displayName: row.name,
  description: row.description,
  updatedAt: new Date(row.updated_at).toISOString(),
})
