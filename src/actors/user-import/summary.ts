// Results of an import, under the names of the contract's `UserImportResultSummary`. Pure.

import type { ItemOutcome, ResultName } from '../user-archive/index.ts'

export interface Counts {
  success: number
  duplicates: number
  errors: number
}

/** Parts that were not reached are left out. */
export type ImportSummary = Partial<Record<ResultName, Counts>>

/** The summary with one more item. */
export function counted(summary: ImportSummary, name: ResultName, outcome: ItemOutcome): ImportSummary {
  const before = countsOf(summary, name)
  const field = typeof outcome === 'object' ? 'errors' : FIELDS[outcome]
  return { ...summary, [name]: { ...before, [field]: before[field] + 1 } }
}

export const countsOf = (summary: ImportSummary, name: ResultName): Counts => summary[name] ?? { success: 0, duplicates: 0, errors: 0 }

const FIELDS = { success: 'success', duplicate: 'duplicates' } as const satisfies Record<Extract<ItemOutcome, string>, keyof Counts>
