// Announces: a video by its channel and its instance; shares by others.

import { type Audience, buildActivity, type ObjectPart, readActivity } from './activity.ts'
import { type JsonObject, kindOf } from './context.ts'
import type { Read } from './read.ts'

export interface AnnounceDocument extends Audience {
  id: string
  actor: string
  /** The shared object: an address, or (Lemmy) an embedded activity. */
  target: ObjectPart
}

export function readAnnounce(document: unknown): Read<AnnounceDocument> {
  const read = readActivity(document)
  if (!read.ok) return read
  const { id, type, actor, object, to, cc } = read.value
  if (type !== 'Announce') return { ok: false, problem: 'not an Announce' }
  return object?.id ? { ok: true, value: { id, actor, target: object, to, cc } } : { ok: false, problem: 'object: missing' }
}

export interface AnnounceDocumentInput extends Audience {
  id: string
  actor: string
  /** The address of the video. */
  target: string
}

/** The Announce of a whole activity, as groups forward it (FEP-1b12). */
export function buildAnnouncement(input: Omit<AnnounceDocumentInput, 'target'> & { activity: JsonObject }): JsonObject {
  const { id, actor, activity, to, cc } = input
  return buildActivity({ type: 'Announce', id, actor, object: activity, audience: { to, cc }, kind: kindOf(activity) })
}

export function buildAnnounce(input: AnnounceDocumentInput): JsonObject {
  const { id, actor, target, to, cc } = input
  return buildActivity({ type: 'Announce', id, actor, object: target, audience: { to, cc } })
}
