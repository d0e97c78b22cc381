// In which language a web client is served: the one that was chosen, else what the browser asks for.

import Negotiator from 'negotiator'

export interface Locales {
  names: readonly string[]
  /** The locale of a name in an address: a whole one such as `fr-FR`, or a language alone; undefined for all else. */
  named(name: string): string | undefined
  /** The same of any language tag, by its script or language when there is no such country: `fr-CH` is `fr-FR`. */
  nearest(tag: string): string | undefined
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
    // Of several countries the one where most speak the language, such as fr-FR or pt-BR, stands for it.
    if (!byName.has(language) || likely(language)?.region === likely(name)?.region) byName.set(language, name)
  }
  byName.set(languageOf(fallback), fallback)
  const byScript = new Map([...names, ...byName.values()].map((name) => [scriptOf(name), name]))
  for (const name of names) byName.set(name.toLowerCase(), name)

  const named = (name: string): string | undefined => byName.get(name.toLowerCase())
  const nearest = (tag: string): string | undefined => named(tag) ?? byScript.get(scriptOf(tag)) ?? (likely(tag) && named(languageOf(tag)))
  return {
    names,
    named,
    nearest,
    choose({ chosen, acceptLanguage }) {
      const byCookie = chosen === undefined ? undefined : nearest(chosen)
      if (byCookie !== undefined) return byCookie
      if (!acceptLanguage) return fallback
      const asked = { headers: { 'accept-language': acceptLanguage.slice(0, LONGEST) } }
      // The first that the browser asks for and that is there; `*` is any.
      for (const tag of new Negotiator(asked).languages()) {
        const found = tag === '*' ? fallback : nearest(tag)
        if (found !== undefined) return found
      }
      return fallback
    },
  }
}

/** `zh-TW` is `zh-Hant-TW`; undefined for what is no language tag. */
function likely(tag: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(tag).maximize()
  } catch {
    return undefined
  }
}

/** `zh-hant` of `zh-TW`: languages with several scripts are not understood in each of them. */
function scriptOf(tag: string): string {
  const { language = '', script = '' } = likely(tag) ?? {}
  return `${language}-${script}`.toLowerCase()
}

const languageOf = (name: string): string => name.split('-', 1)[0]?.toLowerCase() ?? ''
