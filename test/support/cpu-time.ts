// What a piece of work costs the processor: neither other processes of a busy machine count, nor that this one computes slower.

/** For what takes 20 ms at most on a processor that does nothing else. */
export const AT_MOST_MS = 60

/** Starts to count; the function that it answers tells the milliseconds that this process has computed since, at the usual speed. */
export function startCpuTime(): () => number {
  const before = process.cpuUsage()
  return () => atUsualSpeed(inMs(process.cpuUsage(before)))
}

/** Milliseconds of processor time as a quiet machine needs them: what shares its cores may need seven times as many. */
export function atUsualSpeed(ms: number): number {
  return ms < NOTICEABLE_MS ? ms : ms / Math.max(1, sampleMs().computing / USUAL_SAMPLE_MS)
}

/** How many times a quiet machine's time this one takes at the moment, waiting for a processor included; at least 1. */
export const slowness = (): number => Math.max(1, sampleMs().passing / USUAL_SAMPLE_MS)

export const inMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000

/** What no bound is below. */
const NOTICEABLE_MS = 15
/** The sample on a quiet machine. */
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
