// What an activity is about and when it was sent: of several activities of one actor about one object, the latest counts, whatever their
// order of arrival. Pure.

import type { Subject } from '../../actors/incoming-activity/index.ts'
import type { ActivityDocument, JsonObject, ObjectPart } from '../wire/index.ts'

const RATES = new Set(['Like', 'Dislike', 'EmojiReact'])
const CARRIERS = new Set(['Create', 'Update', 'Delete'])
const ANSWERS = new Set(['Accept', 'Reject', 'TentativeAccept', 'TentativeReject'])
const APPROVALS = new Set(['ApproveReply', 'RejectReply'])

/**
 * The subject of an activity: of two activities of one actor with the same subject, only the later one is in force. An Undo ends an
 * activity, a Delete an object; but Misskey follows again under the id of the undone Follow.
 */
export function subjectOf({ type, object }: ActivityDocument): Subject {
  if (object === null) return { about: null, ends: null }
  if (type === 'Undo') {
    const ends = object.id === null || object.type === 'Follow' ? null : { activity: object.id }
    return { about: aboutOfUndone(object), ends }
  }
  const kind = kindOf(type)
  const about = kind !== null && object.id !== null ? `${kind} ${object.id}` : null
  return { about, ends: type === 'Delete' && about !== null ? { thing: about } : null }
}

/** The subject of an undone activity, if it is embedded; otherwise only its id is known. */
function aboutOfUndone(undone: ObjectPart): string | null {
  const kind = undone.type === null ? null : kindOf(undone.type)
  const target = targetOf(undone.document)
  return kind !== null && target !== null ? `${kind} ${target}` : null
}

function kindOf(type: string): string | null {
  if (CARRIERS.has(type)) return 'object'
  if (RATES.has(type)) return 'rate'
  if (ANSWERS.has(type)) return 'answer'
  if (APPROVALS.has(type)) return 'approval'
  return type === 'Announce' || type === 'Follow' ? type.toLowerCase() : null
}

function targetOf(document: JsonObject | null): string | null {
  const object = document?.object
  if (typeof object === 'string') return object
  return isObject(object) && typeof object.id === 'string' ? object.id : null
}

/**
 * The time that the actor states in signed bytes: the time of the inner signature, or of its proof, or the publication date; null without
 * any. The publication date of an object does not tell when it was created or removed. Limited to the time of arrival: a fast clock must
 * not win forever.
 */
export function saidAt({ type, signature, proof, published }: JsonObject, arrivedAt: Date): Date | null {
  const said = [
    isObject(signature) ? signature.created : undefined,
    isObject(proof) ? proof.created : undefined,
    typeof type === 'string' && CARRIERS.has(type) ? undefined : published,
  ]
    .map((value) => (typeof value === 'string' && value.length <= 50 ? Date.parse(value) : Number.NaN))
    .find((time) => Number.isFinite(time) && time > 0)
  return said === undefined ? null : notAfter(new Date(said), arrivedAt)
}

export const notAfter = (time: Date, latest: Date): Date => (time < latest ? time : latest)

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
