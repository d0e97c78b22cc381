// All parts of an archive, in the order in which they are written and imported: referenced objects come first. Stored positions of imports
// refer to the imported ones by index.

import type { z } from 'zod'
import type { ImportContext, ItemOutcome } from './import-context.ts'
import type { ImportDeps } from './import-deps.ts'
import { account } from './kinds/account.ts'
import { tagPolicies } from './kinds/automatic-tag-policies.ts'
import { blocklist } from './kinds/blocklist.ts'
import { channels } from './kinds/channels.ts'
import { comments } from './kinds/comments.ts'
import { followers, following } from './kinds/follows.ts'
import { history } from './kinds/history.ts'
import { playlists } from './kinds/playlists.ts'
import { dislikes, likes } from './kinds/ratings.ts'
import { userSettings } from './kinds/user-settings.ts'
import { videos } from './kinds/videos.ts'
import { watchedWords } from './kinds/watched-words.ts'
import type { Part } from './part.ts'
import { makeReferences } from './references.ts'

const all = [
  account,
  userSettings,
  channels,
  watchedWords,
  tagPolicies,
  blocklist,
  followers,
  following,
  videos,
  playlists,
  likes,
  dislikes,
  history,
  comments,
] as const

type AnyPart = (typeof all)[number]
type Imported = Exclude<AnyPart, { result: null }>
export type ArchivePart = AnyPart['name']
export type ImportedPart = Imported['name']
export type ResultName = Imported['result']

export interface PartImporter {
  part: ImportedPart
  importItem(item: unknown, context: ImportContext): Promise<ItemOutcome>
}

export const archiveParts: readonly Part<ArchivePart>[] = all

type ImportedDefinition = Part<ImportedPart, z.ZodType, ResultName>
const imported: readonly ImportedDefinition[] = all.filter((part): part is Imported => part.result !== null)
export const importedParts: readonly ImportedPart[] = imported.map(({ name }) => name)
export const resultNames: readonly ResultName[] = imported.map(({ result }) => result)

export function partOf(name: ImportedPart): ImportedDefinition {
  const part = imported.find((one) => one.name === name)
  if (!part) throw new Error(`Nothing imports ${name}.`)
  return part
}

export type PartImporterDeps = Omit<ImportDeps, 'references'>

export function makePartImporters(options: PartImporterDeps): PartImporter[] {
  const deps = { ...options, references: makeReferences(options) }
  return imported.flatMap((part) => {
    const importItem = part.import?.(deps)
    return importItem ? [{ part: part.name, importItem }] : []
  })
}
