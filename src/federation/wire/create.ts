// Creates: of videos, comments and PeerTube's other objects.

import { type Audience, buildActivity } from './activity.ts'
import { type CarrierDocument, readCarrier } from './carrier.ts'
import { type JsonObject, kindOf } from './context.ts'
import type { Read } from './read.ts'

/** Reads a Create. Its object is embedded, or an address to be fetched. */
export const readCreate = (document: unknown): Read<CarrierDocument> => readCarrier(document, 'Create')

/** A Create of a built document, whose context moves to the outside. */
export function buildCreate(input: { id: string; actor: string; object: JsonObject } & Audience): JsonObject {
  const { id, actor, object, to, cc } = input
  return buildActivity({ type: 'Create', id, actor, object, audience: { to, cc }, kind: kindOf(object) })
}
