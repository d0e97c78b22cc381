// Kinds of activities for the policy: by type and, if it matters, by the type of the object. Pure.

import { countedAs } from '../../../actors/incoming-activity/index.ts'
import type { ActivityDocument, JsonObject, ObjectPart } from '../../wire/index.ts'

const CARRIERS = new Set(['Create', 'Update'])
const CARRIED = new Set(['CacheFile', 'Note', 'Playlist', 'Video', 'WatchAction'])
/** A group forwards an activity, which carries a comment. */
const DEEPEST = 3

/** `Create Note`, `Flag`; `Other` for types without a handler. The number of kinds is bounded, whatever others send. */
export function kindOf({ type, object }: { type: string; object: Pick<ObjectPart, 'type'> | null }): string {
  const known = countedAs(type) ?? 'Other'
  return CARRIERS.has(known) && object?.type && CARRIED.has(object.type) ? `${known} ${object.type}` : known
}

/** A `Create` with only the address of its object may be about a comment, too. */
export function mayBeComment({ type, object }: ActivityDocument): boolean {
  return CARRIERS.has(type) && (object === null || object.type === null || object.type === 'Note')
}

/** A report, or an activity that carries a comment, also a nested one. */
export function isRemark(document: JsonObject): boolean {
  let at: unknown = document
  for (let depth = 0; depth <= DEEPEST && typeof at === 'object' && at !== null; depth += 1) {
    const type: unknown = 'type' in at ? at.type : undefined
    if ([type].flat().some((one) => one === 'Note' || one === 'Flag')) return true
    at = 'object' in at ? at.object : undefined
    if (Array.isArray(at)) [at] = at
  }
  return false
}
