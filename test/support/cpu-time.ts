// What a piece of work costs the processor, however busy the machine is with other things.

/** Starts to count; the function that it answers tells the milliseconds that this process has computed since. */
export function startCpuTime(): () => number {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
}

/** For what takes 20 ms at most on a processor that does nothing else: shared ones take up to three times as long. */
export const AT_MOST_MS = 60
