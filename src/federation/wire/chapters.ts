// The chapters of a video.

import { z } from 'zod'
import { type JsonObject, withContext } from './context.ts'
import { BOUNDS, httpUrl, listOf, type Read, readWith, text } from './read.ts'

/** Offsets in seconds. */
export interface ChapterDocument {
  name: string
  startOffset: number
  endOffset: number
}

export interface ChaptersDocument {
  id: string
  chapters: ChapterDocument[]
}

const offset = z.number().min(0).max(10_000_000)
const chapter = z.object({ name: text(BOUNDS.shortText), startOffset: offset, endOffset: offset })

/** A list of chapters, without unreadable ones. */
export const chapters = listOf<ChapterDocument>(chapter, BOUNDS.chapters)

const schema = z.object({ id: httpUrl, hasPart: chapters }).transform(({ id, hasPart }): ChaptersDocument => ({ id, chapters: hasPart }))

export const readChapters = (document: unknown): Read<ChaptersDocument> => readWith(schema, document)

export function buildChapters(input: ChaptersDocument): JsonObject {
  return withContext('chapters', { id: input.id, hasPart: input.chapters })
}
