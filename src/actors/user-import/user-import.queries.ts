// Reads about user imports.

import type { Database } from '../../platform/database/index.ts'
import { type UserImportContext, userImportStateIds } from '../../state-machines/user-import.ts'
import type { ItemFailure } from './failures.ts'
import type { ImportSummary } from './summary.ts'

export interface UserImportRow {
  id: number
  state: keyof typeof userImportStateIds
  context: UserImportContext
  item: number
  items: number | null
  summary: ImportSummary
  /** The first failures; `summary` counts all. */
  failures: readonly ItemFailure[]
  created_at: Date
}

/** The latest import of a user whose archive is complete. */
export async function findLatestImport(db: Pick<Database, 'query'>, userId: number): Promise<UserImportRow | undefined> {
  const [row] = await db.query<UserImportRow>(
    `select id, state, context, item, items, summary, failures, created_at from user_import
     where user_id = $1 and state not in ('uploading', 'cancelled') order by id desc limit 1`,
    [userId],
  )
  return row
}

/** `UserImportState` of the contract, as clients see it. */
export const userImportStates: Readonly<Record<UserImportRow['state'], { id: number; label: string }>> = {
  pending: { id: userImportStateIds.pending, label: 'Pending' },
  processing: { id: userImportStateIds.processing, label: 'Processing' },
  completed: { id: userImportStateIds.completed, label: 'Completed' },
  errored: { id: userImportStateIds.errored, label: 'Failed' },
}
