// Long computations that let others have their turn: one process answers everybody.

import { setImmediate } from 'node:timers/promises'

/** To be awaited in the loops of a computation: others run when this one has run for so long (ms) at a stretch. */
export function makeBreaks(stretch = 5): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < stretch) return
    await setImmediate()
    since = performance.now()
  }
}
