// Tombstones of deleted objects.

import { z } from 'zod'
import { type JsonObject, withContext } from './context.ts'
import { httpUrl, ofType, optionalDate, optionalIri, optionalText, type Read, readWith } from './read.ts'

export interface TombstoneDocument {
  id: string
  formerType: string | null
  inReplyTo: string | null
  publishedAt: Date | null
  updatedAt: Date | null
  deletedAt: Date | null
}

const schema = z
  .object({
    type: ofType('Tombstone'),
    id: httpUrl,
    formerType: optionalText(100),
    inReplyTo: optionalIri,
    published: optionalDate,
    updated: optionalDate,
    deleted: optionalDate,
  })
  .transform(
    (stone): TombstoneDocument => ({
      id: stone.id,
      formerType: stone.formerType,
      inReplyTo: stone.inReplyTo,
      publishedAt: stone.published,
      updatedAt: stone.updated,
      deletedAt: stone.deleted,
    }),
  )

export const readTombstone = (document: unknown): Read<TombstoneDocument> => readWith(schema, document)

/** The tombstone of a local comment. */
export function buildTombstone(input: TombstoneDocument): JsonObject {
  const at = (name: string, value: Date | null) => (value === null ? {} : { [name]: value.toISOString() })
  return withContext('comment', {
    id: input.id,
    type: 'Tombstone',
    ...(input.formerType === null ? {} : { formerType: input.formerType }),
    ...(input.inReplyTo === null ? {} : { inReplyTo: input.inReplyTo }),
    ...at('published', input.publishedAt),
    ...at('updated', input.updatedAt),
    ...at('deleted', input.deletedAt),
  })
}
