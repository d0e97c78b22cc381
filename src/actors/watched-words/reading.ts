// Normalises a text for matching: case, character variants and invisible characters make no difference.

export interface ReadText {
  /** Its words in lower case, and each sign between them. */
  tokens: readonly string[]
  distinct: ReadonlySet<string>
  /** All of it, for expressions. */
  text: string
}

/** Characters that are searched: at least twice a whole comment. */
const LONGEST = 20_000
/** Combining marks on one letter. More are meaningless, and slow to normalise. */
const MARKS = /(\p{M}{4})\p{M}+/gu
const INVISIBLE = /\p{Default_Ignorable_Code_Point}+/gu
/** Scripts without spaces are split into characters. */
const TOKENS = /[[\p{L}\p{M}\p{N}]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]]+|\S/gv

export function readText(text: string): ReadText {
  const seen = asSeen(text)
  const tokens = tokensOf(seen)
  return { tokens, distinct: new Set(tokens), text: signsApart(seen) }
}

/** The same for a searched word. */
export const wordTokens = (word: string): string[] => tokensOf(asSeen(word))

const asSeen = (text: string): string =>
  text.slice(0, LONGEST).replace(INVISIBLE, '').replace(MARKS, '$1').normalize('NFKC').toLowerCase().slice(0, LONGEST)

/** Some lower-case letters share a capital: ß becomes ss, and both sigmas are equal. */
const tokensOf = (seen: string): string[] => seen.toUpperCase().toLowerCase().replaceAll('ς', 'σ').match(TOKENS) ?? []

/** Private range for signs beyond ASCII. */
const APART = 0xf0000

/**
 * With signs and letters in separate ranges, so that an expression for word boundaries is short. Applied to every text and every
 * expression.
 */
export const signsApart = (text: string): string =>
  text
    .replace(/[^\S\0-\x7f]/gu, ' ')
    .replace(/[^\p{L}\p{M}\p{N}\0-\x7f]/gu, (sign) => String.fromCodePoint(APART + ((sign.codePointAt(0) ?? 0) & 0xffff)))

/** RE2: characters that may surround a word. Those of scripts without spaces may (Thai and Lao, Chinese and Japanese). */
export const BESIDE_WORDS = String.raw`[\x00-/:-@\[-\x60{-\x7f\x{e00}-\x{eff}\x{3040}-\x{9fff}\x{f0000}-\x{10ffff}]`
