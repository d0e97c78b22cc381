// Texts, numbers and dates in the language of a reader. The key of a message is its English text, in ICU MessageFormat
// (https://unicode-org.github.io/icu/userguide/format_parse/messages/), so that the code can be read and English needs no file.

import { createRequire } from 'node:module'
import type { IntlMessageFormat } from 'intl-messageformat'

/** Translations by English message. */
export type Messages = Readonly<Record<string, string>>

export type Language = ReturnType<typeof makeLanguage>

// Formats of numbers and dates load the data of their language, and the library its parser: together 15 MiB that many processes never need.
const require = createRequire(import.meta.url)
const library = (): typeof import('intl-messageformat') => require('intl-messageformat')

function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

type FormatValue<Part> = string | number | Part | ((inside: (string | Part)[]) => Part)

/** `read` is called when the first message is looked for. */
export function makeLanguage(tag: string, read: () => Messages) {
  const known = lazy(() => new Map(Object.entries(read())))
  const patterns = lazy(() => patternsOf([...known().keys()]))
  const formats = new Map<string, IntlMessageFormat>()
  const numbers = new Map<string, Intl.NumberFormat>()
  const days = lazy(() => new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeZone: 'UTC' }))
  const times = lazy(() => new Intl.DateTimeFormat(tag, { timeStyle: 'short', timeZone: 'UTC' }))
  const names = lazy(() => new Intl.DisplayNames(tag, { type: 'language', fallback: 'none', languageDisplay: 'standard' }))
  const collator = lazy(() => new Intl.Collator(tag))

  /** Messages are texts of the program, so there are not many. */
  function formatOf(message: string): IntlMessageFormat {
    let format = formats.get(message)
    if (!format) {
      // A number and its noun stay on one line.
      format = new (library().IntlMessageFormat)((known().get(message) ?? message).replaceAll('# ', '#\u00a0'), tag)
      formats.set(message, format)
    }
    return format
  }

  function number(value: number, options: Intl.NumberFormatOptions = {}): string {
    const key = JSON.stringify(options)
    let format = numbers.get(key)
    if (!format) {
      format = new Intl.NumberFormat(tag, options)
      numbers.set(key, format)
    }
    return format.format(value)
  }

  const dir: 'ltr' | 'rtl' = RIGHT_TO_LEFT.has(new Intl.Locale(tag).maximize().script ?? '') ? 'rtl' : 'ltr'
  return {
    /** BCP 47. */
    tag,
    dir,
    /** The translation of a message without parameters. */
    find(message: string): string | undefined {
      return known().get(message)
    },
    /** The message with numbered parameters (`{0}`) that an English text was made of, and the values in it. */
    recognize(text: string): { message: string; values: string[] } | undefined {
      for (const { message, pattern } of patterns()) {
        const [, ...values] = pattern.exec(text) ?? []
        if (values.length > 0) return { message, values }
      }
      return undefined
    },
    /** The parts of a message; values that are no text or number stay as they are, and functions make the parts of their tags. */
    format<Part>(message: string, values: Readonly<Record<string, FormatValue<Part>>>): (string | Part)[] {
      const format = formatOf(message)
      // The library writes only the numbers of plurals as in the language.
      const given = Object.entries(values).map(([name, value]) => [
        name,
        typeof value === 'number' && !message.includes(`{${name},`) ? number(value) : value,
      ])
      return [format.format<Part>(Object.fromEntries(given) as Parameters<typeof format.format<Part>>[0])].flat() as (string | Part)[]
    },
    number,
    /** Day, in UTC. */
    day(date: Date) {
      return days().format(date)
    },
    /** Hour and minute, in UTC. */
    time(date: Date) {
      return times().format(date)
    },
    /** The order of two words. */
    compare(a: string, b: string) {
      return collator().compare(a, b)
    },
    /** The name of another language by its code; undefined for unknown ones. */
    nameOf(code: string): string | undefined {
      try {
        return names().of(code)
      } catch {
        // Codes come from other servers, too.
        return undefined
      }
    },
  }
}

const NUMBERED = /\{\d\}/g

/** Those that say the most come first: several may fit. */
function patternsOf(messages: readonly string[]): { message: string; pattern: RegExp }[] {
  const said = (message: string): number => message.replaceAll(NUMBERED, '').length
  return messages
    .filter((message) => message.includes('{0}'))
    .sort((a, b) => said(b) - said(a))
    .map((message) => {
      const [first = '', ...pieces] = message.split(NUMBERED).map(RegExp.escape)
      // A value at the beginning is a name or an address: other sentences that end like this one have several words there.
      return { message, pattern: new RegExp(`^${first}${first === '' ? '(\\S+?)' : '(.+?)'}${pieces.join('(.+?)')}$`, 's') }
    })
}

/** ISO 15924. */
const RIGHT_TO_LEFT: ReadonlySet<string> = new Set(['Arab', 'Hebr', 'Syrc', 'Thaa', 'Nkoo', 'Adlm', 'Rohg'])

export const english = makeLanguage('en', () => ({}))

/** A text that is not chosen before the reader's language is known. */
export class Localized {
  readonly in: (language: Language) => string

  constructor(say: (language: Language) => string) {
    this.in = say
  }
}

export type Word = Localized | string | number

/**
 * A message of the program, written out as a literal where it is used: tests collect them from the sources. Numbers in `values` are written
 * as in the reader's language.
 */
export function t(message: string, values?: Readonly<Record<string, Word>>): Localized {
  if (!values) return new Localized((language) => language.find(message) ?? message)
  const given = Object.entries(values)
  return new Localized((language) =>
    language.format<never>(message, Object.fromEntries(given.map(([name, value]) => [name, wordIn(value, language)]))).join(''),
  )
}

/** A text from elsewhere, such as a label of the API: translated if it is one of the messages. */
export const known = (text: string): Localized => new Localized((language) => language.find(text) ?? text)

/**
 * The same for a text with values in it, such as a refusal or a finding, line by line: it is translated as the message with numbered
 * parameters that it fits, and so are the values.
 */
export const recognized = (text: string): Localized =>
  new Localized((language) =>
    text
      .split('\n')
      .map((line) => fitted(line, language))
      .join(' '),
  )

/** Characters. Longer texts are no messages. */
const LONGEST = 1000
/** Values in values. */
const DEEPEST = 3

function fitted(text: string, language: Language, depth = 0): string {
  const found = text.length > LONGEST || depth > DEEPEST ? undefined : (language.find(text) ?? language.recognize(text))
  // The check-up makes sentences of warnings and errors.
  if (found === undefined) return text.endsWith('.') && text !== '.' ? `${fitted(text.slice(0, -1), language, depth + 1)}.` : text
  if (typeof found === 'string') return found
  const values = Object.fromEntries(found.values.map((value, index) => [index, fitted(value, language, depth + 1)]))
  return language.format<never>(found.message, values).join('')
}

export const inNumbers = (value: number, options?: Intl.NumberFormatOptions): Localized =>
  new Localized((language) => language.number(value, options))

/** Several words as `a, b and c`. */
export const listed = (words: readonly Word[]): Localized =>
  new Localized((language) => new Intl.ListFormat(language.tag).format(words.map((word) => String(wordIn(word, language)))))

export const wordIn = (word: Word, language: Language): string | number => (word instanceof Localized ? word.in(language) : word)
