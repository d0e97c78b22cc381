// Defaults for new videos: `defaults.publish` of the configuration.

import type { Config } from '../../config/index.ts'
import type { NewVideoFields } from './video-draft.ts'

export type PublishDefaults = Pick<NewVideoFields, 'privacy' | 'licence' | 'commentsPolicy' | 'downloadEnabled'>

export function publishDefaults({ defaults }: Pick<Config, 'defaults'>): PublishDefaults {
  const { unsaid_privacy: privacy, licence, comments_policy, download_enabled } = defaults.publish
  return { privacy, licence, commentsPolicy: comments_policy, downloadEnabled: download_enabled }
}
