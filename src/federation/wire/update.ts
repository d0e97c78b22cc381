// Changes: of videos, actors and what else was created.

import { type Audience, buildActivity } from './activity.ts'
import { type CarrierDocument, readCarrier } from './carrier.ts'
import { type JsonObject, kindOf } from './context.ts'
import type { Read } from './read.ts'

/** Reads an Update. Whether the sender owns the thing is for the caller to check. */
export const readUpdate = (document: unknown): Read<CarrierDocument> => readCarrier(document, 'Update')

/** An Update around a built document. */
export function buildUpdate(input: { id: string; actor: string; object: JsonObject } & Audience): JsonObject {
  const { id, actor, object, to, cc } = input
  return buildActivity({ type: 'Update', id, actor, object, audience: { to, cc }, kind: kindOf(object) })
}
