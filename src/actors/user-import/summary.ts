// Results of an import, counted by part under the names of the contract's `UserImportResultSummary`. Pure.

import type { ArchivePart } from '../user-archive/index.ts'
import type { ItemOutcome } from './item-outcome.ts'

/** The imported parts, in this order: referenced objects come first. */
export const importedParts = [
  'account',
  'user-settings',
  'channels',
  'watched-words-lists',
  'automatic-tag-policies',
  'blocklist',
  'following',
  'videos',
  'video-playlists',
  'likes',
  'dislikes',
  'video-history',
] as const satisfies readonly ArchivePart[]

export type ImportedPart = (typeof importedParts)[number]

const NAMES = {
  account: 'account',
  'user-settings': 'userSettings',
  channels: 'channels',
  'watched-words-lists': 'watchedWordsLists',
  'automatic-tag-policies': 'commentAutoTagPolicies',
  blocklist: 'blocklist',
  following: 'following',
  videos: 'videos',
  'video-playlists': 'videoPlaylists',
  likes: 'likes',
  dislikes: 'dislikes',
  'video-history': 'userVideoHistory',
} as const satisfies Record<ImportedPart, string>

export type SummaryName = (typeof NAMES)[ImportedPart]

export interface Counts {
  success: number
  duplicates: number
  errors: number
}

/** Parts that were not reached are left out. */
export type ImportSummary = Partial<Record<SummaryName, Counts>>

export const summaryNames = importedParts.map((part) => NAMES[part])

export const isImported = (part: ArchivePart): part is ImportedPart => Object.hasOwn(NAMES, part)

/** The summary with one more item. */
export function counted(summary: ImportSummary, part: ImportedPart, outcome: ItemOutcome): ImportSummary {
  const name = NAMES[part]
  const before = countsOf(summary, name)
  const field = typeof outcome === 'object' ? 'errors' : FIELDS[outcome]
  return { ...summary, [name]: { ...before, [field]: before[field] + 1 } }
}

export const countsOf = (summary: ImportSummary, name: SummaryName): Counts => summary[name] ?? { success: 0, duplicates: 0, errors: 0 }

const FIELDS = { success: 'success', duplicate: 'duplicates' } as const satisfies Record<Extract<ItemOutcome, string>, keyof Counts>
