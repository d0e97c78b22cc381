// The user's settings for the account and its notifications: `user-settings`.

import { findNotificationSettings } from '../../notification-setting/index.ts'
import type { PartItem } from '../../user-archive/index.ts'
import type { Export } from '../export.ts'
import { iso } from '../rows.ts'

type Settings = Omit<PartItem<'user-settings'>, 'createdAt' | 'notificationSettings'>

export async function writeUserSettings({ query, user, writer }: Export): Promise<void> {
  const [row] = await query<Settings & { createdAt: Date }>(
    `select email, email_public as "emailPublic", nsfw_policy as "nsfwPolicy", auto_play_video as "autoPlayVideo",
       auto_play_next_video as "autoPlayNextVideo", auto_play_next_video_playlist as "autoPlayNextVideoPlaylist",
       p2p_enabled as "p2pEnabled", videos_history_enabled as "videosHistoryEnabled", video_languages as "videoLanguages",
       theme, created_at as "createdAt"
     from users where id = $1`,
    [user.userId],
  )
  if (!row) throw new Error('The user went while the archive was made.')
  const notificationSettings = await findNotificationSettings(query, user.userId)
  await writer.part('user-settings', { ...row, createdAt: iso(row.createdAt), notificationSettings })
}
