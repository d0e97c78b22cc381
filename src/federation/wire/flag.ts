// Flags: reports of abuse. The reference sends one object with Hashtags for its predefined reasons and timestamps of the video; Mastodon an
// account with some of its posts; Lemmy the reason as a summary.

import { z } from 'zod'
import { type Audience, buildActivity, readActivity } from './activity.ts'
import type { JsonObject } from './context.ts'
import { BOUNDS, listOf, optionalCount, optionalText, type Read, readWith, text } from './read.ts'

export interface FlagDocument extends Audience {
  id: string
  actor: string
  /** Null without a reason. */
  content: string | null
  mediaType: string
  /** The reported objects, without duplicates. */
  objects: string[]
  /** Names of Hashtags, such as `spamOrMisleading`. */
  reasons: string[]
  /** Seconds of the video. */
  startAt: number | null
  endAt: number | null
}

const MARKDOWN = 'text/markdown'

const hashtag = z.object({ type: z.literal('Hashtag'), name: text(BOUNDS.shortText) }).transform(({ name }) => name.replace(/^#/, ''))

const schema = z.object({
  content: optionalText(BOUNDS.text),
  summary: optionalText(BOUNDS.text),
  mediaType: optionalText(BOUNDS.shortText),
  tag: listOf(hashtag, BOUNDS.tags),
  startAt: optionalCount,
  endAt: optionalCount,
})

export function readFlag(document: unknown): Read<FlagDocument> {
  const frame = readActivity(document)
  if (!frame.ok) return frame
  const { id, type, actor, objects, to, cc } = frame.value
  if (type !== 'Flag') return { ok: false, problem: 'not a Flag' }
  const read = readWith(schema, document)
  if (!read.ok) return read
  const { content, summary, mediaType, tag, startAt, endAt } = read.value
  const reported = new Set(objects.flatMap((object) => (object.id === null ? [] : [object.id])))
  if (reported.size === 0) return { ok: false, problem: 'object: missing' }
  return {
    ok: true,
    value: {
      id,
      actor,
      to,
      cc,
      startAt,
      endAt,
      content: content ?? summary,
      mediaType: mediaType ?? MARKDOWN,
      objects: [...reported],
      reasons: [...new Set(tag)],
    },
  }
}

/** In the form of the reference: one object as a text. */
export function buildFlag(input: FlagDocument): JsonObject {
  const { id, actor, to, cc, content, mediaType, objects, reasons, startAt, endAt } = input
  const { object: _none, ...frame } = buildActivity({
    type: 'Flag',
    id,
    actor,
    object: '',
    audience: { to, cc },
    kind: 'flag',
    more: {
      content: content ?? '',
      mediaType,
      tag: reasons.map((name) => ({ type: 'Hashtag', name })),
      ...(startAt === null ? {} : { startAt }),
      ...(endAt === null ? {} : { endAt }),
    },
  })
  return { ...frame, object: objects.length === 1 ? objects[0] : objects }
}
