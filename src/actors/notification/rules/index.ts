// The table of rules: which event notifies whom about what. Rules of one event apply in order.

import type { TabledRule } from '../rule.ts'
import { abuseRules } from './abuses.ts'
import { mention, newComment } from './comments.ts'
import { newFollow } from './follows.ts'
import { imported, importFailed } from './imports.ts'
import { instanceRules } from './instance.ts'
import { registrationRules } from './registrations.ts'
import { videoBlockRules } from './video-blocks.ts'
import { edited, published, transcribed } from './videos.ts'

export const RULES: readonly TabledRule[] = [
  newComment,
  mention,
  published,
  edited,
  transcribed,
  imported,
  importFailed,
  newFollow,
  ...abuseRules,
  ...videoBlockRules,
  ...registrationRules,
  ...instanceRules,
]
