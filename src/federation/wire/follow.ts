// Follows.

import { type ActivityDocument, buildActivity, type ObjectPart, readActivity } from './activity.ts'
import type { JsonObject } from './context.ts'
import { idOf, isHttpUrl, type Read } from './read.ts'

export interface FollowDocument {
  id: string
  actor: string
  /** The followed actor. */
  target: string
}

/** A follow in an Accept, a Reject or an Undo: some software sends the address alone, some leaves the id out. */
export interface EmbeddedFollow {
  id: string | null
  actor: string | null
  target: string | null
}

export function readFollow(document: unknown): Read<FollowDocument> {
  const read = readActivity(document)
  if (!read.ok) return read
  const { id, type, actor, object } = read.value
  if (type !== 'Follow') return { ok: false, problem: 'not a Follow' }
  return object?.id ? { ok: true, value: { id, actor, target: object.id } } : { ok: false, problem: 'object: missing' }
}

/** The follow that an activity is about; undefined if it is about something else. */
function embeddedFollow(part: ObjectPart | null): EmbeddedFollow | undefined {
  if (part === null || (part.document !== null && part.type !== 'Follow')) return undefined
  const actor = idOf(part.document?.actor)
  const target = idOf(part.document?.object)
  const found = { id: part.id, actor: isHttpUrl(actor) ? actor : null, target: isHttpUrl(target) ? target : null }
  return found.id !== null || (found.actor !== null && found.target !== null) ? found : undefined
}

/** An answer to a follow. */
export interface FollowAnswer extends Pick<ActivityDocument, 'id' | 'actor'> {
  follow: EmbeddedFollow
}

/** Reads an Accept or a Reject. */
export function readAnswer(document: unknown, type: 'Accept' | 'Reject'): Read<FollowAnswer> {
  const read = readActivity(document)
  if (!read.ok) return read
  const { id, actor, object } = read.value
  if (read.value.type !== type) return { ok: false, problem: `not an ${type}` }
  const follow = embeddedFollow(object)
  return follow ? { ok: true, value: { id, actor, follow } } : { ok: false, problem: 'object: not a Follow' }
}

export function buildFollow(input: FollowDocument): JsonObject {
  return buildActivity({ type: 'Follow', id: input.id, actor: input.actor, object: input.target })
}

/** The follow as embedded in an Accept, Reject or Undo. */
export function buildAnswer(input: { type: 'Accept' | 'Reject'; id: string; actor: string; follow: FollowDocument }): JsonObject {
  return buildActivity({ type: input.type, id: input.id, actor: input.actor, object: buildFollow(input.follow) })
}
