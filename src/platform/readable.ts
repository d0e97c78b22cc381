// Whether a text is visible. One rule for names, titles, tags, comments and reasons, wherever they come from.

/**
 * Letters, digits, symbols and pictures, without invisible ones: fillers, joiners, blank Braille cells and notes, and the object
 * replacement character.
 */
const VISIBLE =
  /[[\p{L}\p{N}\p{P}\p{S}\p{Co}\p{Extended_Pictographic}]--\p{Default_Ignorable_Code_Point}--[\u2800\ufffc\u{1d159}\u{13441}\u{13442}]]/v

export const isReadable = (text: string): boolean => VISIBLE.test(text)
