// What an activity is about and when it was said: of what one actor says about one thing, the last word counts, in
// whatever order the words arrive. Pure.

import type { Subject } from '../../actors/incoming-activity/index.ts'
import type { ActivityDocument, JsonObject, ObjectPart } from '../wire/index.ts'

const RATES = new Set(['Like', 'Dislike', 'EmojiReact'])
const CARRIERS = new Set(['Create', 'Update', 'Delete'])
const ANSWERS = new Set(['Accept', 'Reject', 'TentativeAccept', 'TentativeReject'])
const APPROVALS = new Set(['ApproveReply', 'RejectReply'])

/**
 * The thing that an activity decides about: two activities of one actor about the same thing, of which one was said later,
 * are never both in force. An Undo ends an activity, a Delete a thing; but Misskey follows again under the id of the Follow that
 * it took back.
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

/** What is taken back tells its thing when it is embedded; else only its id is known. */
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
 * When its actor says that it was said, for a document whose bytes that actor signed: the time of the signature inside, else of
 * its proof, else when it was published; null when nothing tells. When a thing was published says nothing of when it was created or
 * removed. Never after it arrived: a clock that is ahead must not win for ever.
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
