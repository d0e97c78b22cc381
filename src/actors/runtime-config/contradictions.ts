// Finds combinations of valid settings that are invalid together, before they are stored. Pure.

import { type Config, isMailEnabled } from '../../config/index.ts'

/** One sentence per contradiction, with the keys as clients know them; empty if there is none. */
export function contradictionsOf(config: Config): string[] {
  const { signup, transcoding, video_studio } = config
  const { videos, video_channel_synchronization } = config.import
  const rules: [boolean, string][] = [
    [
      signup.enabled && signup.requires_email_verification && !isMailEnabled(config),
      'signup.requiresEmailVerification needs mail, and no mail server is configured (smtp).',
    ],
    [
      video_channel_synchronization.enabled && !videos.http.enabled,
      'import.videoChannelSynchronization.enabled needs import.videos.http.enabled.',
    ],
    [video_studio.enabled && !transcoding.enabled, 'videoStudio.enabled needs transcoding.enabled.'],
  ]
  return rules.filter(([broken]) => broken).map(([, sentence]) => sentence)
}
