// The language in which a web client is served: the chosen one, or what the browser requests.

import Negotiator from 'negotiator'

export type Locales = ReturnType<typeof makeLocales>

const DEFAULT = 'en-US'
/** Characters of the header that are parsed; browsers send some dozens. */
const LONGEST = 500

/** `names`: the folders of a client, at least one. */
export function makeLocales(names: readonly string[]) {
  const fallback = names.includes(DEFAULT) ? DEFAULT : (names[0] ?? DEFAULT)
  const byName = new Map<string, string>()
  for (const name of names) {
    const language = languageOf(name)
    // A language stands for its country with the most speakers, such as fr-FR or pt-BR.
    if (!byName.has(language) || likely(language)?.region === likely(name)?.region) byName.set(language, name)
  }
  byName.set(languageOf(fallback), fallback)
  const byScript = new Map([...names, ...byName.values()].map((name) => [scriptOf(name), name]))
  for (const name of names) byName.set(name.toLowerCase(), name)

  /** The locale of a name in an address: a complete one such as `fr-FR`, or a language; otherwise undefined. */
  const named = (name: string): string | undefined => byName.get(name.toLowerCase())
  /** The locale of any language tag, by its script or language if the country is missing: `fr-CH` gives `fr-FR`. */
  const nearest = (tag: string): string | undefined => named(tag) ?? byScript.get(scriptOf(tag)) ?? (likely(tag) && named(languageOf(tag)))
  return {
    names,
    named,
    nearest,
    /** `chosen`: the value of the cookie. */
    choose({ chosen, acceptLanguage }: { chosen: string | undefined; acceptLanguage: string | undefined }): string {
      const byCookie = chosen === undefined ? undefined : nearest(chosen)
      if (byCookie !== undefined) return byCookie
      if (!acceptLanguage) return fallback
      const asked = { headers: { 'accept-language': acceptLanguage.slice(0, LONGEST) } }
      // The first requested locale that exists; `*` is any.
      for (const tag of new Negotiator(asked).languages()) {
        const found = tag === '*' ? fallback : nearest(tag)
        if (found !== undefined) return found
      }
      return fallback
    },
  }
}

/** Expands `zh-TW` to `zh-Hant-TW`; undefined for an invalid tag. */
function likely(tag: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(tag).maximize()
  } catch {
    return undefined
  }
}

/** `zh-hant` for `zh-TW`: readers of one script may not read another one. */
function scriptOf(tag: string): string {
  const { language = '', script = '' } = likely(tag) ?? {}
  return `${language}-${script}`.toLowerCase()
}

const languageOf = (name: string): string => name.split('-', 1)[0]?.toLowerCase() ?? ''
