// The activities that a node handles, by type and object type, derived from its handlers.

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
