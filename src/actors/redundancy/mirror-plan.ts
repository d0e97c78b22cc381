// Plans which remote videos a strategy copies next, and which copies it gives up for them. Pure.

export type Strategy = 'most-views' | 'trending' | 'recently-added'

export interface StrategySettings {
  strategy: Strategy
  /** Maximum bytes of all its copies. */
  size: number
  /** Minimum lifetime of a copy, in ms. */
  min_lifetime: number
  min_views?: number | undefined
}

/** A video without a copy here. */
export interface Candidate {
  videoId: number
  /** Bytes, as its server reports. */
  size: number
  /** Larger comes first: the first numbers decide, the next ones break ties. */
  merit: readonly number[]
}

/** A video with copies of the strategy. */
export interface MirroredVideo extends Candidate {
  /** - `coming`: requested, its bytes are reserved; - `here`: stored and announced; - `leaving`: ended, files may still exist. */
  phase: 'coming' | 'here' | 'leaving'
  /** True if the strategy would still choose it with unlimited space. */
  isDeserving: boolean
  createdAt: Date
  /** Null without an expiry. */
  expiresOn: Date | null
}

export interface MirrorPlan {
  /** Videos to copy now. */
  add: number[]
  /** Videos whose copies are given up. */
  evict: number[]
  /** Videos whose copies get another lifetime. */
  extend: number[]
  /** True if a video waits for the space of the evicted ones. */
  isWaiting: boolean
}

/** Maximum concurrent copies of a strategy: earlier choices may be outdated. */
const MAX_COMING = 4
/** A copy survives this many missed checks. */
const MIN_CHECKS = 3

/** Lifetime of an announcement, in ms: never so short that it expires before the next check. */
export const lifetimeFor = ({ min_lifetime }: StrategySettings, checkInterval: number): number =>
  Math.max(min_lifetime, MIN_CHECKS * checkInterval)

/**
 * `candidates` in order of merit. A copy older than `min_lifetime` is replaced by a more deserving video; a video that does not fit is
 * skipped, and smaller ones after it are tried.
 */
export function planMirrors(options: {
  settings: StrategySettings
  checkInterval: number
  now: Date
  held: readonly MirroredVideo[]
  candidates: readonly Candidate[]
}): MirrorPlan {
  const { settings, checkInterval, now, held, candidates } = options
  const oldEnough = now.getTime() - settings.min_lifetime
  const givable = held
    .filter(({ phase, createdAt }) => phase === 'here' && createdAt.getTime() <= oldEnough)
    .toSorted((a, b) => Number(a.isDeserving) - Number(b.isDeserving) || byMerit(a, b))
  const evicted = new Set<number>()
  const evict = (copies: readonly MirroredVideo[]): void => {
    for (const { videoId } of copies) evicted.add(videoId)
  }
  const kept = (): MirroredVideo[] => givable.filter(({ videoId }) => !evicted.has(videoId))

  let room = settings.size - bytesOf(held)
  /** Free space after all leaving copies are removed. */
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

/** The necessary ones among the first copies that free this many bytes; undefined if all together do not suffice. */
function leastOf(copies: readonly MirroredVideo[], bytes: number): MirroredVideo[] | undefined {
  const chosen: MirroredVideo[] = []
  let left = bytes
  for (const copy of copies) {
    if (left <= 0) break
    chosen.push(copy)
    left -= copy.size
  }
  if (left > 0) return undefined
  // A later one may be so large that this one is not needed.
  return chosen.filter(({ size }) => {
    const isNeeded = left + size > 0
    if (!isNeeded) left += size
    return isNeeded
  })
}

/** Least deserving first. */
function byMerit({ merit: a }: Candidate, { merit: b }: Candidate): number {
  for (const [index, one] of a.entries()) {
    const difference = one - (b[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

const bytesOf = (videos: readonly { size: number }[]): number => videos.reduce((sum, { size }) => sum + size, 0)
