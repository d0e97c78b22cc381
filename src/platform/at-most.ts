// So many pieces of work at once, the others in the order in which they came.

/** A function that runs work while fewer than `count` others run, and makes it wait otherwise. */
export function atMost(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0

  return async (work) => {
    if (running < count) running += 1
    // The place is handed over, so that nobody who comes later slips in between.
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
