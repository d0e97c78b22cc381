// Updates: of videos, actors and other created objects.

import { type Audience, buildActivity } from './activity.ts'
import { type CarrierDocument, readCarrier } from './carrier.ts'
import { type JsonObject, kindOf } from './context.ts'
import type { Read } from './read.ts'

/** Reads an Update. The caller checks whether the sender owns the object. */
export const readUpdate = (document: unknown): Read<CarrierDocument> => readCarrier(document, 'Update')

/** An Update of a built document. */
export function buildUpdate(input: { id: string; actor: string; object: JsonObject } & Audience): JsonObject {
  const { id, actor, object, to, cc } = input
  return buildActivity({ type: 'Update', id, actor, object, audience: { to, cc }, kind: kindOf(object) })
}
