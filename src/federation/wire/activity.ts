// Common parts of all activities.

import { z } from 'zod'
import type { ContextKind, JsonObject } from './context.ts'
import { withContext, withoutContext } from './context.ts'
import { asList, audience, BOUNDS, httpUrl, idOf, iri, isHttpUrl, optionalDate, type Read, readWith, text, typeOf } from './read.ts'

/** An object of an activity: by its address, embedded, or both. */
export interface ObjectPart {
  id: string | null
  type: string | null
  /** The embedded document; null for a bare address. */
  document: JsonObject | null
}

export interface ActivityDocument {
  id: string
  type: string
  actor: string
  /** Null if it is missing or unreadable; all handled activities have one. */
  object: ObjectPart | null
  /** All objects, for the few activities that have several (Flag). */
  objects: ObjectPart[]
  to: string[]
  cc: string[]
  publishedAt: Date | null
  hasSignature: boolean
  hasProof: boolean
}

const type = z.preprocess((value) => typeOf({ type: value }), text(100))

const schema = z
  .object({
    id: httpUrl,
    type,
    actor: iri,
    object: z.unknown().optional(),
    to: audience,
    cc: audience,
    published: optionalDate,
    signature: z.unknown().optional(),
    proof: z.unknown().optional(),
  })
  .transform((activity): ActivityDocument => {
    const objects = asList(activity.object).slice(0, BOUNDS.attributions).map(partOf)
    return {
      id: activity.id,
      type: activity.type,
      actor: activity.actor,
      object: objects[0] ?? null,
      objects,
      to: activity.to,
      cc: activity.cc,
      publishedAt: activity.published,
      hasSignature: isObject(activity.signature),
      hasProof: asList(activity.proof).some(isObject),
    }
  })

/** Reads the common part of any activity. The reader of its type reads the object. */
export const readActivity = (document: unknown): Read<ActivityDocument> => readWith(schema, document)

/** The reference and the embedded document of a value. */
function partOf(value: unknown): ObjectPart {
  const document = isObject(value) ? { ...value } : null
  const id = idOf(value)
  return { id: isHttpUrl(id) ? id : null, type: typeOf(value) ?? null, document }
}

const COLLECTIONS = new Set(['Collection', 'OrderedCollection', 'CollectionPage', 'OrderedCollectionPage'])

/**
 * The activities of a posted document: itself, or the items of a bare collection, which PeerTube accepts in inboxes. Each is checked by its
 * own actor; the signature around them says nothing about theirs.
 */
export function activitiesOf(document: unknown): { isCollection: boolean; activities: unknown[] } {
  if (!COLLECTIONS.has(typeOf(document) ?? '')) return { isCollection: false, activities: [document] }
  const { items, orderedItems } = isObject(document) ? document : {}
  return {
    isCollection: true,
    activities: asList(orderedItems ?? items)
      .filter(isObject)
      .slice(0, BOUNDS.items),
  }
}

/** Recipients of a local activity; always arrays, as the reference silently drops anything else. */
export interface Audience {
  to: string[]
  cc: string[]
}

/** The common part of a local activity. */
export function buildActivity(input: {
  type: string
  id: string
  actor: string
  /** An address, or a document that is embedded without its own context. */
  object: string | JsonObject
  audience?: Audience | undefined
  kind?: ContextKind
  more?: JsonObject
}): JsonObject {
  const { audience: addressed, object } = input
  return withContext(input.kind ?? 'base', {
    ...(addressed ? { to: addressed.to, cc: addressed.cc } : {}),
    type: input.type,
    id: input.id,
    actor: input.actor,
    object: typeof object === 'string' ? object : withoutContext(object),
    ...input.more,
  })
}

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
