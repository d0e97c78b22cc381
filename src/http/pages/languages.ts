// The language that a visitor gets: the chosen one, or the one that the browser asks for, or English.

import Negotiator from 'negotiator'
import { english, type Language } from '../../platform/language.ts'
import { languageOfTag, languages } from '../../platform/languages.ts'

const tags = languages.map(({ tag }) => tag)

/** Characters of the header that are parsed; browsers send some dozens. */
const LONGEST = 500

/** `chosen`: the tag that the visitor chose, if it is known; `accepted`: the header `Accept-Language`. */
export function chooseLanguage({ chosen, accepted }: { chosen?: string | undefined; accepted: string | undefined }): Language {
  const own = languageOfTag(chosen)
  if (own || !accepted) return own ?? english
  const asked = new Negotiator({ headers: { 'accept-language': accepted.slice(0, LONGEST) } })
  return languageOfTag(asked.language(tags)) ?? english
}
