// What users may change about themselves.

import { z } from 'zod'
import type { MeChanges } from '../../actors/user/index.ts'
import { nsfwPolicies } from '../../config/index.ts'
import { displayName, emailAddress, newPassword } from '../users/fields.ts'

/** Built-in themes; `instance-default` follows the administrator's choice. */
const THEMES = ['instance-default', 'default']

/** The body of `PUT /users/me` (`UpdateMe` of the contract). `hasTheme`: whether a theme is installed. */
export const updateMeBody = (hasTheme: (name: string) => boolean) =>
  z
    .object({
      displayName: displayName.nullable(),
      description: z.string().min(3).max(1000).nullable(),
      email: emailAddress,
      emailPublic: z.boolean(),
      password: newPassword,
      // A short one is wrong, not malformed.
      currentPassword: z.string().max(255),
      nsfwPolicy: z.enum(nsfwPolicies),
      /** The older form of `nsfwPolicy`, which takes precedence. */
      displayNSFW: z.enum(['true', 'false', 'both']),
      p2pEnabled: z.boolean(),
      autoPlayVideo: z.boolean(),
      autoPlayNextVideo: z.boolean(),
      autoPlayNextVideoPlaylist: z.boolean(),
      videosHistoryEnabled: z.boolean(),
      videoLanguages: z.array(z.string().min(1).max(50)).max(499).nullable(),
      theme: z.string().refine((name) => THEMES.includes(name) || hasTheme(name), 'Should be an installed theme'),
      noInstanceConfigWarningModal: z.boolean(),
      noAccountSetupWarningModal: z.boolean(),
      noWelcomeModal: z.boolean(),
    })
    .partial()
    .meta({ id: 'UpdateMe' })

export function toMeChanges(body: z.output<ReturnType<typeof updateMeBody>>): MeChanges {
  const { displayName, description, email, password, currentPassword, displayNSFW, ...settings } = body
  const legacyPolicy = displayNSFW && (displayNSFW === 'false' ? 'do_not_list' : 'display')
  return {
    displayName,
    description,
    email,
    password,
    currentPassword,
    settings: { ...(legacyPolicy ? { nsfwPolicy: legacyPolicy } : {}), ...settings },
  }
}

const notice = z.int().min(0).max(3)

/** Old fields are required; newer ones may be omitted. */
const notices = {
  newVideoFromSubscription: notice,
  newCommentOnMyVideo: notice,
  abuseAsModerator: notice,
  videoAutoBlacklistAsModerator: notice,
  blacklistOnMyVideo: notice,
  myVideoImportFinished: notice,
  myVideoPublished: notice,
  commentMention: notice,
  newFollow: notice,
  newUserRegistration: notice,
  newInstanceFollower: notice,
  autoInstanceFollowing: notice,
}
const laterNotices = {
  abuseStateChange: notice,
  abuseNewMessage: notice,
  newPeerTubeVersion: notice,
  newPluginVersion: notice,
  myVideoStudioEditionFinished: notice,
  myVideoTranscriptionGenerated: notice,
}

export const notificationSettingsView = z.object({ ...notices, ...laterNotices }).meta({ id: 'UserNotificationSetting' })
export const notificationSettingsBody = z.object({ ...notices, ...z.object(laterNotices).partial().shape })
