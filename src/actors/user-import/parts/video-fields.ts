// Maps a video of an archive to the fields of an upload. Pure.

import { z } from 'zod'
import { isReadable } from '../../../platform/readable.ts'
import { DomainError } from '../../runtime/index.ts'
import type { ReadPartItem } from '../../user-archive/index.ts'
import { categoryLabels, languageLabels, licenceLabels, type NewVideoFields, videoPrivacies } from '../../video/index.ts'
import { fitting, labelOrNull, name, readItem, textOrNull } from './fields.ts'

const COMMENTS = { enabled: 1, disabled: 2 } as const

/** Categories, licences and languages may be unknown here. */
const fields = z.object({
  name: name(3, 120),
  privacy: z.literal(Object.values(videoPrivacies)),
  category: labelOrNull(categoryLabels, z.int()),
  licence: labelOrNull(licenceLabels, z.int()),
  language: labelOrNull(languageLabels, z.string()),
  nsfw: z.boolean(),
  description: textOrNull(3, 10_000),
  support: textOrNull(3, 1000),
  waitTranscoding: z.boolean(),
  downloadEnabled: z.boolean(),
  tags: fitting(z.string().trim().min(2).max(30).refine(isReadable), 5),
})
const passwords = fitting(z.string().min(2).max(99), 100)
const commentsPolicy = z.int().min(1).max(3)

/**
 * Without its original publication date it would seem as new as its import. Throws `invalid` for missing required fields, and for the
 * privacy by password without a password.
 */
export function videoFieldsOf(item: ReadPartItem<'videos'>, channelId: number): NewVideoFields {
  const read = readItem(fields, item)
  const isProtected = read.privacy === videoPrivacies.passwordProtected
  const words = isProtected ? passwords.parse(item.passwords) : []
  if (isProtected && words.length === 0) throw new DomainError('invalid', 'Video passwords are missing.')
  const policy = commentsPolicy.safeParse(item.commentsPolicy)
  return {
    ...read,
    channelId,
    commentsPolicy: policy.data ?? (item.commentsEnabled === false ? COMMENTS.disabled : COMMENTS.enabled),
    originallyPublishedAt: item.originallyPublishedAt ?? item.publishedAt ?? null,
    passwords: words,
    schedule: null,
  }
}
