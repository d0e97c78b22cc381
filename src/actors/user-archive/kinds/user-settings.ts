// The user's settings for the account and its notifications: `user-settings`. The e-mail address stays that of the local user.

import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { nsfwPolicies } from '../../../config/index.ts'
import { findNotificationSettings, notificationDefaults } from '../../notification-setting/index.ts'
import type { MeChanges } from '../../user/index.ts'
import { date, definePart, listOf, nullableText } from '../part.ts'
import { iso } from '../rows.ts'

const item = z.object({
  email: z.string(),
  emailPublic: z.boolean().nullish(),
  nsfwPolicy: z.string().nullish(),
  autoPlayVideo: z.boolean().nullish(),
  autoPlayNextVideo: z.boolean().nullish(),
  autoPlayNextVideoPlaylist: z.boolean().nullish(),
  p2pEnabled: z.boolean().nullish(),
  videosHistoryEnabled: z.boolean().nullish(),
  videoLanguages: listOf(z.string()).nullish(),
  theme: nullableText,
  createdAt: date,
  /** By the names of the REST API's notification settings. */
  notificationSettings: z.record(z.string(), z.number()).nullish(),
})

const flag = z.boolean().optional().catch(undefined)

/** Themes of other servers may be missing here. */
const settings = z.object({
  emailPublic: flag,
  nsfwPolicy: z.enum(nsfwPolicies).optional().catch(undefined),
  autoPlayVideo: flag,
  autoPlayNextVideo: flag,
  autoPlayNextVideoPlaylist: flag,
  p2pEnabled: flag,
  videosHistoryEnabled: flag,
  videoLanguages: z.array(z.string().min(1).max(50)).max(499).nullable().optional().catch(undefined),
  theme: z.enum(['instance-default', 'default']).optional().catch(undefined),
})

const notice = z.int().min(0).max(3)

const SETTINGS = `select email, email_public as "emailPublic", nsfw_policy as "nsfwPolicy", auto_play_video as "autoPlayVideo",
    auto_play_next_video as "autoPlayNextVideo", auto_play_next_video_playlist as "autoPlayNextVideoPlaylist",
    p2p_enabled as "p2pEnabled", videos_history_enabled as "videosHistoryEnabled", video_languages as "videoLanguages",
    theme, created_at as "createdAt"
  from users where id = $1`

type SettingsRow = Omit<z.input<typeof item>, 'createdAt' | 'notificationSettings'> & { createdAt: Date }

export const userSettings = definePart({
  name: 'user-settings',
  list: null,
  item,
  result: 'userSettings',

  async export({ query, user: { userId } }) {
    const [row] = await query<SettingsRow>(SETTINGS, [userId])
    if (!row) throw new Error('The user went while the archive was made.')
    return [{ ...row, createdAt: iso(row.createdAt), notificationSettings: await findNotificationSettings(query, userId) }]
  },

  import:
    ({ db, updateMe, notificationSettings }) =>
    async (archived, { userId }) => {
      const [known] = await db.query<SettingsRow>(SETTINGS, [userId])
      if (!known) return { error: 'not_found' }
      const changed: MeChanges['settings'] = newOf(settings.parse(archived), known)
      if (Object.keys(changed).length > 0) await updateMe({ userId, sessionId: 0 }, { settings: changed })
      const notices = newOf(noticesOf(archived.notificationSettings ?? {}), await findNotificationSettings(db.query, userId))
      if (Object.keys(notices).length > 0) await notificationSettings.update(userId, notices)
      return Object.keys(changed).length + Object.keys(notices).length > 0 ? 'success' : 'duplicate'
    },
})

/** Notification settings that this server has. */
const noticesOf = (given: Record<string, number>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(given).filter(([key, value]) => Object.hasOwn(notificationDefaults, key) && notice.safeParse(value).success),
  )

/** Given values that differ from the known ones. */
const newOf = <T extends object>(said: T, known: object): Partial<T> => {
  const before = new Map<string, unknown>(Object.entries(known))
  const other = Object.entries(said).filter(([key, value]) => value !== undefined && !isDeepStrictEqual(value, before.get(key)))
  return Object.fromEntries(other) as Partial<T>
}
