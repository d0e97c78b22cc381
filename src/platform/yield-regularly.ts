// Yields to the event loop during long computations.

import { setImmediate } from 'node:timers/promises'

/** To be awaited in the loops of a computation: yields after this many ms of uninterrupted work. */
export function makeYieldRegularly(stretch = 5): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < stretch) return
    await setImmediate()
    since = performance.now()
  }
}
