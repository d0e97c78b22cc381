// A part of a user's archive: one JSON document below `peertube/` (the contract's `*ExportJSON` models), what is written to it, and how it
// is imported. Reading is lenient where archives differ between versions: some fields are optional, and unknown ones are dropped.

import { z } from 'zod'
import type { Items } from './archive-writer.ts'
import type { Export } from './export.ts'
import type { ImportContext, ItemOutcome } from './import-context.ts'
import type { ImportDeps } from './import-deps.ts'

interface ItemImporter<S extends z.ZodType> {
  importItem(item: z.output<S>, context: ImportContext): Promise<ItemOutcome>
}

export interface Part<N extends string = string, S extends z.ZodType = z.ZodType, R extends string | null = string | null> {
  /** Its document is `peertube/<name>.json`. */
  name: N
  /**
   * The key of the document's list, whose items are validated one by one, so that a bad item does not affect the others; null if the
   * document is its one item.
   */
  list: string | null
  item: S
  /** The name of its results in the contract's `UserImportResultSummary`; null if it is not imported. */
  result: R
  /** Writes files and documents that belong to the part, and returns the items of its own document. */
  export(of: Export): Items<z.input<S>> | Promise<Items<z.input<S>>>
  /**
   * Imports one item. It may be called again with the same item after a crash, and returns `duplicate` (or `success`) then. A DomainError
   * counts as `error`; any other error makes the import wait and retry.
   */
  import?(deps: ImportDeps): ItemImporter<S>['importItem']
  /** The field that identifies an item to users. */
  namedBy?: string
  /**
   * Returns a function that is called with each item, in order, before it is validated, and returns true if the archive contains too much.
   * The items alone decide, so that a resumed import decides the same.
   */
  bound?(): (item: unknown) => boolean
}

export const definePart = <const N extends string, S extends z.ZodType, const R extends string | null>(
  part: Part<N, S, R> & { namedBy?: keyof z.output<S> },
): Part<N, S, R> => part

/** More than an item of a real archive has of anything. */
const MOST = 20_000
export const listOf = <T extends z.ZodType>(item: T) => z.array(item).max(MOST)

export const date = z.iso.datetime()
export const nullableText = z.string().nullish()

/** A file of the archive, relative to the JSON document that names it, such as `../files/account/avatars/a.png`. */
export const archiveFile = z.string().max(1000).nullish()
