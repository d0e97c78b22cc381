// What an activity is about and when it was said: of what one actor says about one thing, the last word counts, in
// whatever order the words arrive. Pure.

import type { ActivityDocument, JsonObject, ObjectPart } from '../wire/index.ts'

/**
 * The thing that an activity decides about: two activities of one actor about the same thing, of which one was said
 * later, are never both in force. `undone` names an activity by its id alone, whose thing is not told.
 */
export type Subject = { about: string } | { undone: string } | null

const RATES = new Set(['Like', 'Dislike', 'EmojiReact'])
const CARRIERS = new Set(['Create', 'Update', 'Delete'])
const ANSWERS = new Set(['Accept', 'Reject', 'TentativeAccept', 'TentativeReject'])
const APPROVALS = new Set(['ApproveReply', 'RejectReply'])

export function subjectOf({ type, object }: ActivityDocument): Subject {
  if (object === null) return null
  if (type === 'Undo') return subjectOfUndone(object)
  const kind = kindOf(type)
  return kind !== null && object.id !== null ? { about: `${kind} ${object.id}` } : null
}

/** What is taken back tells its thing when it is embedded; else only its id is known. */
function subjectOfUndone(undone: ObjectPart): Subject {
  const kind = undone.type === null ? null : kindOf(undone.type)
  const target = targetOf(undone.document)
  if (kind !== null && target !== null) return { about: `${kind} ${target}` }
  return undone.id === null ? null : { undone: undone.id }
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
 * When its actor says that it was said: the time of the signature inside the document, else of its proof, else when it was
 * published; the time of arrival when nothing tells. Never in the future: a clock that is ahead must not win for ever.
 */
export function saidAt(document: JsonObject, arrivedAt: Date): Date {
  return new Date(Math.min(toldAt(document) ?? arrivedAt.getTime(), arrivedAt.getTime()))
}

/** The time that the document tells, in ms. */
export function toldAt({ signature, proof, published }: JsonObject): number | undefined {
  return [isObject(signature) ? signature.created : undefined, isObject(proof) ? proof.created : undefined, published]
    .map((value) => (typeof value === 'string' && value.length <= 50 ? Date.parse(value) : Number.NaN))
    .find((time) => Number.isFinite(time) && time > 0)
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
