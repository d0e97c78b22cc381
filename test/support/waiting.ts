// Waiting for something to become true, instead of for a time.

import { setTimeout as wait } from 'node:timers/promises'

/** Between two tries, in ms: what is waited for runs on the same processors, and tries may cost more than a little. */
const SHORTEST = 10
const LONGEST = 80

/** Tries until the assertion holds; after `withinMs` its last error is the test's. */
export async function eventually(assertion: () => void | Promise<void>, withinMs = 600_000): Promise<void> {
  const giveUpAt = performance.now() + withinMs
  for (let pause = SHORTEST; ; pause = Math.min(pause * 1.5, LONGEST)) {
    try {
      return await assertion()
    } catch (error) {
      if (performance.now() > giveUpAt) throw error
    }
    await wait(pause)
  }
}

/** A gate that others wait for until it is opened. */
export function latch(): { opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}
