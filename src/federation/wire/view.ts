// Views: without `expires`, a view; with it, a viewer until then. The result is the number of views or viewers.

import { z } from 'zod'
import { type Audience, readActivity } from './activity.ts'
import { type JsonObject, withContext } from './context.ts'
import { count, iri, ofType, optional, optionalDate, type Read, readWith } from './read.ts'

export interface ViewDocument extends Audience {
  id: string
  actor: string
  /** The address of the video. */
  target: string
  /** Until when a viewer counts; null for a view. */
  expiresAt: Date | null
  /** Number of viewers or views; null for one. */
  count: number | null
}

const result = z
  .object({ type: ofType('InteractionCounter'), interactionType: ofType('WatchAction'), userInteractionCount: count })
  .transform(({ userInteractionCount }) => userInteractionCount)

const schema = z.object({ object: iri, expires: optionalDate, result: optional(result) })

export function readView(document: unknown): Read<ViewDocument> {
  const activity = readActivity(document)
  if (!activity.ok) return activity
  const { id, actor, type, to, cc } = activity.value
  if (type !== 'View') return { ok: false, problem: 'not a View' }
  const read = readWith(schema, document)
  if (!read.ok) return read
  const { object, expires, result } = read.value
  return { ok: true, value: { id, actor, target: object, expiresAt: expires, count: result, to, cc } }
}

export function buildView(input: ViewDocument): JsonObject {
  return withContext('view', {
    to: input.to,
    cc: input.cc,
    id: input.id,
    type: 'View',
    actor: input.actor,
    object: input.target,
    ...(input.expiresAt === null ? {} : { expires: input.expiresAt.toISOString() }),
    ...(input.count === null
      ? {}
      : {
          result: {
            type: 'InteractionCounter',
            interactionType: 'WatchAction',
            userInteractionCount: input.count,
          },
        }),
  })
}
