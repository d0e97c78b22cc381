// How the policy distinguishes activities: by their type, and where it matters by the type of what they carry. Pure.

import { countedAs } from '../../../actors/incoming-activity/index.ts'
import type { ActivityDocument, JsonObject, ObjectPart } from '../../wire/index.ts'

const CARRIERS = new Set(['Create', 'Update'])
const CARRIED = new Set(['CacheFile', 'Note', 'Playlist', 'Video', 'WatchAction'])
/** A group passes on the activity of somebody, which carries a comment. */
const DEEPEST = 3

/** `Create Note`, `Flag`; `Other` for all that nobody handles. Few, whatever others send. */
export function kindOf({ type, object }: { type: string; object: Pick<ObjectPart, 'type'> | null }): string {
  const known = countedAs(type) ?? 'Other'
  return CARRIERS.has(known) && object?.type && CARRIED.has(object.type) ? `${known} ${object.type}` : known
}

/** A `Create` that names only the address of what was made may be of a comment too. */
export function mayBeComment({ type, object }: ActivityDocument): boolean {
  return CARRIERS.has(type) && (object === null || object.type === null || object.type === 'Note')
}

/** A report, or an activity that carries a comment, also inside another one. */
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
