// In which language a web client is served: the one that was chosen, else what the browser asks for.

import Negotiator from 'negotiator'

export interface Locales {
  names: readonly string[]
  /** The locale of a name in an address: a whole one such as `fr-FR`, or a language alone; undefined for all else. */
  named(name: string): string | undefined
  /** `chosen`: what the cookie says. */
  choose(request: { chosen: string | undefined; acceptLanguage: string | undefined }): string
}

const DEFAULT = 'en-US'
/** Characters of the header that are read; browsers send some dozens. */
const LONGEST = 500

/** `names`: the folders of a client, at least one. */
export function makeLocales(names: readonly string[]): Locales {
  const fallback = names.includes(DEFAULT) ? DEFAULT : (names[0] ?? DEFAULT)
  const byName = new Map<string, string>()
  for (const name of names) {
    const language = languageOf(name)
    // Of several countries the one that gave the language its name, such as fr-FR, speaks for it.
    if (!byName.has(language) || name.toLowerCase() === `${language}-${language}`) byName.set(language, name)
  }
  byName.set(languageOf(fallback), fallback)
  for (const name of names) byName.set(name.toLowerCase(), name)
  const offers = [...byName.keys()]

  const named = (name: string): string | undefined => byName.get(name.toLowerCase())
  return {
    names,
    named,
    choose({ chosen, acceptLanguage }) {
      const byCookie = chosen === undefined ? undefined : named(chosen)
      if (byCookie !== undefined) return byCookie
      if (!acceptLanguage) return fallback
      const asked = { headers: { 'accept-language': acceptLanguage.slice(0, LONGEST) } }
      return named(new Negotiator(asked).language(offers) ?? fallback) ?? fallback
    },
  }
}

const languageOf = (name: string): string => name.split('-', 1)[0]?.toLowerCase() ?? ''
