// Which of other servers' videos a strategy copies next, and which copies it gives up for them. Pure.

export type Strategy = 'most-views' | 'trending' | 'recently-added'

export interface StrategySettings {
  strategy: Strategy
  /** Bytes that all of its copies may take. */
  size: number
  /** How long a copy is kept at least, in ms. */
  min_lifetime: number
  min_views?: number | undefined
}

/** A video that is not copied here. */
export interface Candidate {
  videoId: number
  /** Bytes, as its server tells. */
  size: number
  /** Larger comes first: the first numbers decide, the next ones between equals. */
  merit: readonly number[]
}

/** A video with copies of the strategy. */
export interface Held extends Candidate {
  /**
   * - `coming`: asked for, and its bytes are set aside;
   * - `here`: stored, and others were notified;
   * - `leaving`: over, with files that may still lie here.
   */
  phase: 'coming' | 'here' | 'leaving'
  /** Whether the strategy would still choose it, were there room for everything. */
  isDeserving: boolean
  createdAt: Date
  /** Null for one that lasts. */
  expiresOn: Date | null
}

export interface MirrorPlan {
  /** Videos to copy now. */
  add: number[]
  /** Videos whose copies are given up. */
  evict: number[]
  /** Videos whose copies are kept for another life time. */
  extend: number[]
  /** Whether a video is to come as soon as the room of the evicted is free. */
  isWaiting: boolean
}

/** Copies of one strategy that are on their way at once: what was chosen long ago may not be the best any more. */
const MAX_COMING = 4
/** A copy outlives so many looks that did not come about. */
const MIN_CHECKS = 3

/** How long a copy is announced for, in ms: never so short that it is over before somebody looks at it again. */
export const lifetimeFor = ({ min_lifetime }: StrategySettings, checkInterval: number): number =>
  Math.max(min_lifetime, MIN_CHECKS * checkInterval)

/**
 * `candidates` in order of merit. A copy gives way to a video that deserves it more once it is older than `min_lifetime`; a
 * video for which there is no room is passed over, and smaller ones after it are looked at.
 */
export function planMirrors(options: {
  settings: StrategySettings
  checkInterval: number
  now: Date
  held: readonly Held[]
  candidates: readonly Candidate[]
}): MirrorPlan {
  const { settings, checkInterval, now, held, candidates } = options
  const oldEnough = now.getTime() - settings.min_lifetime
  const givable = held
    .filter(({ phase, createdAt }) => phase === 'here' && createdAt.getTime() <= oldEnough)
    .toSorted((a, b) => Number(a.isDeserving) - Number(b.isDeserving) || byMerit(a, b))
  const evicted = new Set<number>()
  const evict = (copies: readonly Held[]): void => {
    for (const { videoId } of copies) evicted.add(videoId)
  }
  const kept = (): Held[] => givable.filter(({ videoId }) => !evicted.has(videoId))

  let room = settings.size - bytesOf(held)
  /** What is free once all that leaves has left. */
  let roomLater = room + bytesOf(held.filter(({ phase }) => phase === 'leaving'))
  const tooMuch = leastOf(kept(), -roomLater) ?? kept()
  evict(tooMuch)
  roomLater += bytesOf(tooMuch)

  const add: number[] = []
  let isWaiting = false
  let chosen = held.filter(({ phase }) => phase === 'coming').length
  for (const candidate of candidates) {
    if (chosen >= MAX_COMING) break
    const worse = kept().filter((copy) => !copy.isDeserving || byMerit(copy, candidate) < 0)
    const victims = leastOf(worse, candidate.size - roomLater)
    if (!victims) continue
    evict(victims)
    roomLater += bytesOf(victims) - candidate.size
    chosen += 1
    if (candidate.size <= room) {
      add.push(candidate.videoId)
      room -= candidate.size
    } else isWaiting = true
  }

  const soon = now.getTime() + lifetimeFor(settings, checkInterval) / 2
  const extend = held.filter(
    ({ phase, isDeserving, expiresOn, videoId }) =>
      phase === 'here' && isDeserving && expiresOn !== null && expiresOn.getTime() < soon && !evicted.has(videoId),
  )
  return { add, evict: [...evicted], extend: extend.map(({ videoId }) => videoId), isWaiting }
}

/** Of the first copies that make up so many bytes those that are needed; undefined when all of them do not. */
function leastOf(copies: readonly Held[], bytes: number): Held[] | undefined {
  const chosen: Held[] = []
  let left = bytes
  for (const copy of copies) {
    if (left <= 0) break
    chosen.push(copy)
    left -= copy.size
  }
  if (left > 0) return undefined
  // What is behind it may be so large that it was not needed.
  return chosen.filter(({ size }) => {
    const isNeeded = left + size > 0
    if (!isNeeded) left += size
    return isNeeded
  })
}

/** The least deserving first. */
function byMerit({ merit: a }: Candidate, { merit: b }: Candidate): number {
  for (const [index, one] of a.entries()) {
    const difference = one - (b[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

const bytesOf = (videos: readonly { size: number }[]): number => videos.reduce((sum, { size }) => sum + size, 0)
