// Merges concurrent calls, which p-limit would only queue: calls that arrive during a round share the next one. Under load one statement
// serves many callers; a single caller waits no longer than without it.

/** Returns results in the order of the items. */
export type RunBatch<I, O> = (items: I[]) => Promise<O[]>

/**
 * If a round fails as a whole, it is repeated for each item alone, so that one bad item does not affect the others: `run` must leave
 * nothing behind when it throws.
 */
export function batched<I, O>(run: RunBatch<I, O>, options: { max: number }): (item: I) => Promise<O> {
  let waiting: { item: I; resolve: (output: O) => void; reject: (error: unknown) => void }[] = []
  let running = false

  async function rounds(): Promise<void> {
    while (waiting.length > 0) {
      const round = waiting.slice(0, options.max)
      waiting = waiting.slice(options.max)
      await settle(round)
    }
    running = false
  }

  async function settle(round: typeof waiting): Promise<void> {
    try {
      const outputs = await run(round.map(({ item }) => item))
      if (outputs.length !== round.length) throw new Error('A batch has to answer each of its items.')
      for (const [at, { resolve }] of round.entries()) resolve(outputs[at] as O)
    } catch (error) {
      const [only] = round
      if (round.length === 1) only?.reject(error)
      else for (const one of round) await settle([one])
    }
  }

  return (item) =>
    new Promise<O>((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (running) return
      running = true
      // After the other events of this turn of the event loop.
      setImmediate(() => void rounds())
    })
}
