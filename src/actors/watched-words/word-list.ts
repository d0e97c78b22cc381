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

/** Of all lists of one owner together. */
export const LARGEST_OF_OWNER = 500_000

/** Throws TooComplex. `pause` is awaited now and then. */
export async function compileWords(words: readonly string[], pause: () => Promise<void>): Promise<WordList> {
  const phrases = compilePhrases(words)
  const expressions = await compileExpressions(words, { pause, largest: LARGEST_OF_OWNER })
  return {
    size: phrases.size + expressions.size,
    find: async (text, pause) => phrases.find(text) || (await expressions.find(text.text, pause)),
  }
}
