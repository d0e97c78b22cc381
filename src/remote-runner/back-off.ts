// When a runner that has failed takes jobs again: after a pause that grows, and the same job later than others, so that another runner may
// have it. Otherwise a fault of this machine would use up all attempts of all jobs in a moment.

export type BackOff = ReturnType<typeof makeBackOff>

/** In ms. */
const LONGEST_REST = 60_000
const FIRST_LEFT = 15_000
const LONGEST_LEFT = 300_000
const MOST_JOBS = 1_000

/** `now` and `firstRest` in ms. */
export function makeBackOff({ now, firstRest }: { now: () => number; firstRest: number }) {
  const left = new Map<string, { until: number; failures: number }>()
  let restsUntil = 0
  let failures = 0
  return {
    /** True while no job is taken. */
    isResting() {
      return now() < restsUntil
    },
    /** True while this job is left to others. */
    isLeft(uuid: string) {
      return now() < (left.get(uuid)?.until ?? 0)
    },
    failed(uuid: string) {
      failures += 1
      restsUntil = now() + doubled(firstRest, failures, LONGEST_REST)
      const ofJob = (left.get(uuid)?.failures ?? 0) + 1
      left.delete(uuid)
      left.set(uuid, { until: now() + doubled(FIRST_LEFT, ofJob, LONGEST_LEFT), failures: ofJob })
      const [oldest] = left.keys()
      if (left.size > MOST_JOBS && oldest !== undefined) left.delete(oldest)
    },
    done(uuid: string) {
      failures = 0
      left.delete(uuid)
    },
  }
}

const doubled = (first: number, times: number, longest: number): number => Math.min(longest, first * 2 ** Math.min(times - 1, 30))
