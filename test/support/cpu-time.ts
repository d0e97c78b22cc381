// Measures work in CPU time, scaled to a quiet machine: neither other processes nor a slowed-down processor affect the result.

/** Limit for work that takes at most 20 ms on an idle processor. */
export const AT_MOST_MS = 60

/** Starts a measurement. The returned function gives the CPU time of this process since then, in ms of a quiet machine. */
export function startCpuTime(): () => number {
  const before = process.cpuUsage()
  return () => atUsualSpeed(inMs(process.cpuUsage(before)))
}

/** CPU time in ms, scaled to a quiet machine: processes that share its cores may need seven times as long. */
export function atUsualSpeed(ms: number): number {
  return ms < NOTICEABLE_MS ? ms : ms / Math.max(1, sampleMs().computing / USUAL_SAMPLE_MS)
}

/** How many times slower than a quiet machine this one currently is, including waits for a processor; at least 1. */
export const slowness = (): number => Math.max(1, sampleMs().passing / USUAL_SAMPLE_MS)

export const inMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000

/** Lower bound of a sample. */
const NOTICEABLE_MS = 15
/** Duration of the sample on a quiet machine. */
const USUAL_SAMPLE_MS = 12
const ROUNDS = 10
const SAMPLE = JSON.stringify(Array.from({ length: 2_000 }, (_, at) => ({ id: at, name: `name ${at}`, tags: ['a', 'b'] })))

function sampleMs(): { computing: number; passing: number } {
  const compute = () => {
    const rows = JSON.parse(SAMPLE) as { name: string }[]
    rows.map(({ name }) => name.replaceAll(/\d/g, 'x')).sort()
    JSON.stringify(rows)
  }
  compute()
  const [begun, before] = [performance.now(), process.threadCpuUsage()]
  for (let round = 0; round < ROUNDS; round += 1) compute()
  return { computing: inMs(process.threadCpuUsage(before)), passing: performance.now() - begun }
}
