// Chapters as plain data: where each begins and what it is called. Pure.

export interface Chapter {
  /** Seconds from the start of the video. */
  timecode: number
  title: string
}

export const MAX_CHAPTERS = 500
export const MAX_TITLE = 100
export const MAX_TIMECODE = 2_147_483_647

/** In their order, one for each timecode (the first counts), within the bounds. */
export function tidyChapters(chapters: readonly Chapter[]): Chapter[] {
  const byTimecode = new Map<number, Chapter>()
  for (const { timecode, title } of chapters) {
    const at = Math.floor(timecode)
    const name = [...title.trim()].slice(0, MAX_TITLE).join('').trim()
    const fits = at >= 0 && at <= MAX_TIMECODE && name !== ''
    if (fits && !byTimecode.has(at) && byTimecode.size < MAX_CHAPTERS) byTimecode.set(at, { timecode: at, title: name })
  }
  return [...byTimecode.values()].toSorted((a, b) => a.timecode - b.timecode)
}

/** `1:02:03`, `02:03` at the start of a line, and what follows. */
const LINE = /^[ \t]*(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[ \t]+(\S[^\r\n]{0,500})/gm

/** The chapters that a description tells by lines that begin with a time. */
export function chaptersOfDescription(description: string | null): Chapter[] {
  const lines = [...(description ?? '').matchAll(LINE)]
  return tidyChapters(
    lines.map(([, hours = '0', minutes, seconds, title = '']) => ({
      timecode: Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds),
      title,
    })),
  )
}

export const areSame = (some: readonly Chapter[], others: readonly Chapter[]): boolean =>
  some.length === others.length &&
  some.every(({ timecode, title }, index) => timecode === others[index]?.timecode && title === others[index]?.title)
