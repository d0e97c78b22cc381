// Undos: of a follow, a like, a dislike, an announce, or the Create of a redundancy.

import { type Audience, buildActivity, type ObjectPart, readActivity } from './activity.ts'
import { type JsonObject, kindOf } from './context.ts'
import { idOf, isHttpUrl, type Read } from './read.ts'

export interface UndoDocument extends Audience {
  id: string
  actor: string
  /** The undone activity; often embedded, sometimes only its address. */
  undone: ObjectPart
  /** The actor of that activity, if it is named. It must be the actor of the Undo. */
  undoneActor: string | null
  /** The object of that activity, if it is named. */
  undoneTarget: ObjectPart['id']
}

export function readUndo(document: unknown): Read<UndoDocument> {
  const read = readActivity(document)
  if (!read.ok) return read
  const { id, type, actor, object, to, cc } = read.value
  if (type !== 'Undo') return { ok: false, problem: 'not an Undo' }
  if (object === null || (object.id === null && object.document === null)) return { ok: false, problem: 'object: missing' }
  const undoneActor = idOf(object.document?.actor)
  const undoneTarget = idOf(object.document?.object)
  return {
    ok: true,
    value: {
      id,
      actor,
      undone: object,
      undoneActor: isHttpUrl(undoneActor) ? undoneActor : null,
      undoneTarget: isHttpUrl(undoneTarget) ? undoneTarget : null,
      to,
      cc,
    },
  }
}

/** The Undo of a built activity by the same actor. */
export function buildUndo(input: { id: string; actor: string; undone: JsonObject } & Audience): JsonObject {
  const { id, actor, undone, to, cc } = input
  return buildActivity({ type: 'Undo', id, actor, object: undone, audience: { to, cc }, kind: kindOf(undone) })
}
