// A text as words are looked for in it: case, forms of one character, and what nobody sees make no difference.

export interface ReadText {
  /** Its words, in small letters, and each sign between them. */
  tokens: readonly string[]
  distinct: ReadonlySet<string>
  /** All of it, for expressions. */
  text: string
}

/** Characters that are looked at: of a comment all, twice over. */
const LONGEST = 20_000
/** Upon one letter. More say nothing, and take long to be put in order. */
const MARKS = /(\p{M}{4})\p{M}+/gu
const UNSEEN = /\p{Default_Ignorable_Code_Point}+/gu
/** Scripts without spaces are read character by character. */
const TOKENS = /[[\p{L}\p{M}\p{N}]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]]+|\S/gv

export function readText(text: string): ReadText {
  const seen = asSeen(text)
  const tokens = tokensOf(seen)
  return { tokens, distinct: new Set(tokens), text: signsApart(seen) }
}

/** The same of a word that is looked for. */
export const wordTokens = (word: string): string[] => tokensOf(asSeen(word))

const asSeen = (text: string): string =>
  text.slice(0, LONGEST).replace(UNSEEN, '').replace(MARKS, '$1').normalize('NFKC').toLowerCase().slice(0, LONGEST)

/** Some small letters are one in capitals: ß is ss, and a sigma is one wherever it stands. */
const tokensOf = (seen: string): string[] => seen.toUpperCase().toLowerCase().replaceAll('ς', 'σ').match(TOKENS) ?? []

/** Where signs are put that are not of ASCII. */
const APART = 0xf0000

/**
 * With signs and letters in ranges of their own, so that an expression for the bounds of words is a short one. Of every text in
 * which, and every expression for which, something is looked for.
 */
export const signsApart = (text: string): string =>
  text
    .replace(/[^\S\0-\x7f]/gu, ' ')
    .replace(/[^\p{L}\p{M}\p{N}\0-\x7f]/gu, (sign) => String.fromCodePoint(APART + ((sign.codePointAt(0) ?? 0) & 0xffff)))

/**
 * RE2: what may stand beside a word, which is no part of it. Characters of scripts without spaces may (Thai and Lao, Chinese and
 * Japanese).
 */
export const BESIDE_WORDS = String.raw`[\x00-/:-@\[-\x60{-\x7f\x{e00}-\x{eff}\x{3040}-\x{9fff}\x{f0000}-\x{10ffff}]`
