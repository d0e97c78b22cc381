// The latest import of a user: as in the contract, and with its progress.

import { z } from 'zod'
import { importedParts, itemReasons, resultNames } from '../../actors/user-archive/index.ts'
import { countsOf, type UserImportRow, userImportStates } from '../../actors/user-import/index.ts'
import { idNumber } from '../plugins/schemas.ts'

const counts = z.object({ success: z.int(), duplicates: z.int(), errors: z.int() })

export const userImportView = z
  .object({
    id: idNumber,
    state: z.object({ id: z.int(), label: z.string() }),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'UserImport' })

export const userImportProgressView = userImportView
  .extend({
    progress: z.object({
      /** The current part; null before the first and after the last. */
      part: z.enum(importedParts).nullable(),
      partsDone: z.int(),
      parts: z.int(),
      /** Of the current part. */
      itemsDone: z.int(),
      /** Null before the part is read. */
      items: z.int().nullable(),
    }),
    resultSummary: z.object({
      stats: z.object(Object.fromEntries(resultNames.map((name) => [name, counts]))),
    }),
    /** Failed items: their number, and the first of them. */
    failures: z.object({
      total: z.int(),
      data: z.array(
        z.object({
          part: z.enum(importedParts),
          /** Its index in its part, from 0. */
          index: z.int(),
          /** Its name in the archive; null if it has none. */
          name: z.string().nullable(),
          reason: z.enum(itemReasons),
        }),
      ),
    }),
    /** Why it failed; null otherwise. */
    error: z.string().nullable(),
  })
  .meta({ id: 'UserImportProgress' })

export const toUserImportView = ({ id, state, created_at }: UserImportRow): z.infer<typeof userImportView> => ({
  id,
  state: userImportStates[state],
  createdAt: created_at.toISOString(),
})

export function toUserImportProgressView(row: UserImportRow): z.infer<typeof userImportProgressView> {
  const { state, context, item, items, summary, failures } = row
  return {
    ...toUserImportView(row),
    progress: {
      part: state === 'processing' ? (importedParts[context.part] ?? null) : null,
      partsDone: context.part,
      parts: importedParts.length,
      itemsDone: item,
      items,
    },
    resultSummary: { stats: Object.fromEntries(resultNames.map((name) => [name, countsOf(summary, name)])) },
    failures: {
      total: resultNames.reduce((sum, name) => sum + countsOf(summary, name).errors, 0),
      data: [...failures],
    },
    error: context.error,
  }
}
