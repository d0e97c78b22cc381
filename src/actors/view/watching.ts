// Computes what a viewer watched from the positions that the player reports. Pure.

/** Seconds from, to. */
export type Section = [start: number, end: number]

export interface Viewer {
  sections: Section[]
  /** Time of the first sign of the current watching; null without one. */
  startedAt: Date | null
  seenAt: Date
  /** When a view was last counted. */
  countedAt: Date | null
}

/** A player's report, every few seconds. */
export interface Sign {
  /** Position in the video. */
  seconds: number
  /** True if the player seeked there. */
  isSeek: boolean
  at: Date
}

export interface WatchRules {
  /** Seconds of the video; null if unknown (live). */
  duration: number | null
  /** Milliseconds of watched time that make a view. */
  countAfterMs: number
  /** Milliseconds after which the same viewer counts again. */
  expirationMs: number
  /** Maximum stored parts per viewer. */
  maxSections: number
}

export const newViewer = (at: Date): Viewer => ({ sections: [], startedAt: null, seenAt: at, countedAt: null })

/** The viewer after a sign, and whether it made a view. */
export function watched(viewer: Viewer, sign: Sign, rules: WatchRules): { viewer: Viewer; isView: boolean } {
  const sections = continued(viewer.sections, sign, rules.maxSections)
  const next = { ...viewer, sections, seenAt: sign.at, startedAt: viewer.startedAt ?? sign.at }
  const isView = watchedSeconds(sections) >= secondsOfView(rules) && !isCounted(viewer, sign.at, rules)
  return isView ? { viewer: { ...next, countedAt: sign.at }, isView } : { viewer: next, isView }
}

/** Total seconds; parts that were watched twice count twice. */
export const watchedSeconds = (sections: readonly Section[]): number => sections.reduce((sum, [start, end]) => sum + (end - start), 0)

/**
 * Playing continues from the last position; a seek, reported or detected by a step back, opens another part. Beyond `maxSections` the last
 * one only stores the position, without length.
 */
function continued(sections: readonly Section[], { seconds, isSeek }: Sign, maxSections: number): Section[] {
  const last = sections.at(-1)
  if (last && !isSeek && seconds >= last[1]) {
    return [...sections.slice(0, -1), [sections.length > maxSections ? seconds : last[0], seconds]]
  }
  // A part without any playing was only skipped.
  const kept = last && last[0] === last[1] ? sections.slice(0, -1) : sections
  return [...kept, [seconds, seconds]]
}

/** A short video counts as viewed at its end; players sometimes report the second before it. */
function secondsOfView({ duration, countAfterMs }: WatchRules): number {
  const wanted = countAfterMs / 1000
  return duration === null || duration === 0 ? wanted : Math.min(wanted, Math.max(1, duration - 1))
}

const isCounted = ({ countedAt }: Viewer, at: Date, { expirationMs }: WatchRules): boolean =>
  countedAt !== null && at.getTime() - countedAt.getTime() < expirationMs
