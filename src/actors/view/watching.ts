// What a viewer watched, from the positions that the player reports. Pure.

/** Seconds from, to. */
export type Section = [start: number, end: number]

export interface Viewer {
  sections: Section[]
  /** Of the first sign of what is watched now; null when there is none. */
  startedAt: Date | null
  seenAt: Date
  /** When a view was last counted. */
  countedAt: Date | null
}

/** What a player reports every few seconds. */
export interface Sign {
  /** Position in the video. */
  seconds: number
  /** Whether the player jumped there. */
  isSeek: boolean
  at: Date
}

export interface WatchRules {
  /** Seconds of the video; null where that is not known (live). */
  duration: number | null
  /** Milliseconds of watched time that make a view. */
  countAfterMs: number
  /** Milliseconds after which the same viewer counts again. */
  expirationMs: number
  /** Parts that are kept of one viewer. */
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

/** Seconds in all parts together; what was watched twice counts twice. */
export const watchedSeconds = (sections: readonly Section[]): number => sections.reduce((sum, [start, end]) => sum + (end - start), 0)

/**
 * Playing goes on from the last position; a jump, said or seen by its going back, opens another part. Beyond `maxSections` the last
 * one only says where the player is, without length.
 */
function continued(sections: readonly Section[], { seconds, isSeek }: Sign, maxSections: number): Section[] {
  const last = sections.at(-1)
  if (last && !isSeek && seconds >= last[1]) {
    return [...sections.slice(0, -1), [sections.length > maxSections ? seconds : last[0], seconds]]
  }
  // A part in which nothing was played yet was only jumped over.
  const kept = last && last[0] === last[1] ? sections.slice(0, -1) : sections
  return [...kept, [seconds, seconds]]
}

/** A short video is viewed when it was watched to its end, of which players report the second before at times. */
function secondsOfView({ duration, countAfterMs }: WatchRules): number {
  const wanted = countAfterMs / 1000
  return duration === null || duration === 0 ? wanted : Math.min(wanted, Math.max(1, duration - 1))
}

const isCounted = ({ countedAt }: Viewer, at: Date, { expirationMs }: WatchRules): boolean =>
  countedAt !== null && at.getTime() - countedAt.getTime() < expirationMs
