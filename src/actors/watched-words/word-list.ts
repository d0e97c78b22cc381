// A compiled list of words. A word matches literally, and as an expression.

import { compileExpressions } from './expressions.ts'
import { compilePhrases } from './phrases.ts'
import type { ReadText } from './reading.ts'

/** Limits of all lists of the instance, and of an account, which are searched for each comment on its videos. */
export const LARGEST_OF_INSTANCE = 500_000
export const LARGEST_OF_ACCOUNT = 200_000

export type WordList = Awaited<ReturnType<typeof compileWords>>

/** Throws TooComplex. `pause` is awaited regularly. */
export async function compileWords(words: readonly string[], pause: () => Promise<void>) {
  const phrases = compilePhrases(words)
  const expressions = await compileExpressions(words, { pause, largest: LARGEST_OF_INSTANCE })
  return {
    /** Memory, and share of the owner's limit. */
    size: phrases.size + expressions.size,
    /** True if a word of it is in the text. `pause` is awaited regularly. */
    async find(text: ReadText, pause: () => Promise<void>): Promise<boolean> {
      return phrases.find(text) || (await expressions.find(text.text, pause))
    },
  }
}
