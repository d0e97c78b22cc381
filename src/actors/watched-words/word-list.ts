// A list of words, made ready to be looked for in texts. A word is found as it is written, and as the expression that it is.

import { compileExpressions } from './expressions.ts'
import { compilePhrases } from './phrases.ts'
import type { ReadText } from './reading.ts'

export interface WordList {
  /** What it takes of the memory, and of the share of its owner. */
  size: number
  /** Whether a word of it is in the text. `pause` is awaited now and then. */
  find(text: ReadText, pause: () => Promise<void>): Promise<boolean>
}

/** Of all lists of the instance together, and of all of an account: whoever comments below its videos makes them be looked through. */
export const LARGEST_OF_INSTANCE = 500_000
export const LARGEST_OF_ACCOUNT = 200_000

/** Throws TooComplex. `pause` is awaited now and then. */
export async function compileWords(words: readonly string[], pause: () => Promise<void>): Promise<WordList> {
  const phrases = compilePhrases(words)
  const expressions = await compileExpressions(words, { pause, largest: LARGEST_OF_INSTANCE })
  return {
    size: phrases.size + expressions.size,
    find: async (text, pause) => phrases.find(text) || (await expressions.find(text.text, pause)),
  }
}
