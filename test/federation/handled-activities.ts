// What a node does something with: each activity, and of those that are about many things each of these. From the handlers.

import { creations } from '../../src/federation/inbound/create.ts'
import { removals } from '../../src/federation/inbound/delete.ts'
import { HANDLERS } from '../../src/federation/inbound/dispatch-activity.ts'
import { withdrawals } from '../../src/federation/inbound/undo.ts'
import { changes } from '../../src/federation/inbound/update.ts'

const objectsOf: Record<string, Iterable<string>> = {
  Create: creations.keys(),
  Delete: removals.keys(),
  Undo: withdrawals.keys(),
  Update: changes.keys(),
}

/** `Create Video`, `Like` and so on. */
export const HANDLED_ACTIVITIES: string[] = Object.keys(HANDLERS).flatMap((type) =>
  Object.hasOwn(objectsOf, type) ? Array.from(objectsOf[type] ?? [], (object) => `${type} ${object}`) : [type],
)
