// Merges calls that come at about the same time into one: what is asked while a round is on its way goes with the next.
// Under load one statement serves many callers; a lone caller waits no longer than without it.

/** Answers in the order of the items. */
export type RunBatch<I, O> = (items: I[]) => Promise<O[]>

/**
 * A round that fails as a whole is run again for each item alone, so that one bad item does not spoil it for the others:
 * `run` must leave nothing behind when it throws.
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
      // After whatever else this turn of the event loop brings.
      setImmediate(() => void rounds())
    })
}
