// Settings that are right alone and wrong together, refused before they are stored. Pure.

import { type Config, isMailEnabled } from '../../config/index.ts'

/** One sentence for each, naming the keys as clients know them; none when all is well. */
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
