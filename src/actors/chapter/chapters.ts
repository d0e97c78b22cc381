// Chapters as plain data: start and title. Pure.

import { z } from 'zod'
import type { Retiming } from '../../media/index.ts'
import { isReadable } from '../../platform/readable.ts'

export interface Chapter {
  /** Seconds from the start of the video. */
  timecode: number
  title: string
}

export const MAX_CHAPTERS = 500
export const MAX_TITLE = 100
export const MAX_TIMECODE = 2_147_483_647

/** In order, one per timecode (the first one wins), within the limits. */
export function tidyChapters(chapters: readonly Chapter[]): Chapter[] {
  const byTimecode = new Map<number, Chapter>()
  for (const { timecode, title } of chapters) {
    const at = Math.floor(timecode)
    const name = [...storable(title).trim()].slice(0, MAX_TITLE).join('').trim()
    const fits = at >= 0 && at <= MAX_TIMECODE && isReadable(name)
    if (fits && !byTimecode.has(at) && byTimecode.size < MAX_CHAPTERS) byTimecode.set(at, { timecode: at, title: name })
  }
  return [...byTimecode.values()].toSorted((a, b) => a.timecode - b.timecode)
}

/** Files and other sites may contain characters that PostgreSQL's JSON cannot. */
const storable = (title: string): string => title.replaceAll('\0', '').toWellFormed()

/** `1:02:03`, `02:03` at the start of a line, and the rest. */
const LINE = /^[ \t]*(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[ \t]+(\S[^\r\n]{0,500})/gm

/** The chapters in a description: lines that begin with a time. */
export function chaptersOfDescription(description: string | null): Chapter[] {
  const lines = [...(description ?? '').matchAll(LINE)]
  return tidyChapters(
    lines.map(([, hours = '0', minutes, seconds, title = '']) => ({
      timecode: Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds),
      title,
    })),
  )
}

/** In ffprobe's format: seconds as text. */
const chapterOfFile = z.object({ start_time: z.coerce.number().default(0), tags: z.object({ title: z.string() }) })

/** The titled chapters of a media file. */
export function chaptersOfFile(found: readonly unknown[]): Chapter[] {
  const chapters = found.flatMap((chapter) => {
    const { success, data } = chapterOfFile.safeParse(chapter)
    return success ? [{ timecode: Math.round(data.start_time), title: data.tags.title }] : []
  })
  return tidyChapters(chapters)
}

/** Moves the chapters within a stretch (seconds) to its new place. One that began before the stretch and continues in it begins with it. */
export function retimeChapters(chapters: readonly Chapter[], { from, to, at }: Retiming): Chapter[] {
  return tidyChapters(
    chapters.flatMap(({ timecode, title }, index) => {
      const end = chapters[index + 1]?.timecode ?? Number.POSITIVE_INFINITY
      const start = Math.max(timecode, from)
      return start < to && start < end ? [{ timecode: Math.round(start - from + at), title }] : []
    }),
  )
}

export const areSame = (some: readonly Chapter[], others: readonly Chapter[]): boolean =>
  some.length === others.length &&
  some.every(({ timecode, title }, index) => timecode === others[index]?.timecode && title === others[index]?.title)
