// HTML by template: every value is escaped unless it is HTML already. Texts of the program are put in the reader's language at the end.

import { english, type Language, Localized, type Word, wordIn } from './language.ts'

/** Escaped text, and text that is made for a language. */
type Part = string | ((language: Language) => string)

export class Html {
  readonly parts: readonly Part[]

  constructor(parts: string | readonly Part[]) {
    this.parts = typeof parts === 'string' ? [parts] : parts
  }

  in(language: Language): string {
    return this.parts.map((part) => (typeof part === 'string' ? part : part(language))).join('')
  }

  /** The words without their markup. */
  plain(language: Language): string {
    return unescapeHtml(this.in(language).replace(/<[^>]*>/g, ''))
  }

  /** In English. */
  get text(): string {
    return this.in(english)
  }

  toString(): string {
    return this.text
  }
}

type Value = Html | Localized | string | number | null | undefined | false | readonly Value[]

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text for an element or for a quoted attribute. */
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char)

export const unescapeHtml = (text: string): string =>
  text.replace(/&(?:\w+|#39);/g, (entity) => Object.entries(ESCAPES).find(([, escaped]) => escaped === entity)?.[0] ?? entity)

/** A piece of HTML. Lists are joined; null, undefined and false give nothing. */
export function html(pieces: TemplateStringsArray, ...values: Value[]): Html {
  const parts: Part[] = []
  const add = (part: Part): void => {
    const last = parts.at(-1)
    if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part
    else parts.push(part)
  }
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) render(values[index - 1], add)
    add(piece)
  }
  return new Html(parts)
}

function render(value: Value, add: (part: Part) => void): void {
  if (value === null || value === undefined || value === false) return
  if (value instanceof Html) for (const part of value.parts) add(part)
  else if (value instanceof Localized) add((language) => escapeHtml(value.in(language)))
  else if (typeof value === 'string' || typeof value === 'number') add(escapeHtml(String(value)))
  else for (const one of value) render(one, add)
}

type RichValue = Html | Word | ((inside: Html) => Html)

/** A message, like `t`, with HTML for parameters, and functions for its tags: `rich('<a>Log in</a>', { a: (inside) => … })`. */
export function rich(message: string, values: Readonly<Record<string, RichValue>>): Html {
  const given = Object.entries(values)
  const pieces = (list: readonly (string | Html)[]): Html => html`${list}`
  return new Html([
    (language) => {
      const own = given.map(([name, value]) => {
        if (typeof value === 'function') return [name, (inside: (string | Html)[]) => value(pieces(inside))] as const
        return [name, value instanceof Html ? value : wordIn(value, language)] as const
      })
      return pieces(language.format<Html>(message, Object.fromEntries(own))).in(language)
    },
  ])
}

/** JSON data inside a page: nothing in it can end the element. */
export const jsonScript = (data: unknown): Html =>
  new Html(`<script type="application/ld+json">${forScript(JSON.stringify(data))}</script>`)

/** JSON, or a JavaScript literal, for a script: nothing in it ends the element or the line. */
export const forScript = (json: string): string =>
  json.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** CSS inside a page: nothing in it can end the element. In CSS an escaped slash is a slash. */
export const styleTag = (css: string, className: string): Html =>
  new Html(`<style class="${escapeHtml(className)}">${css.replace(/<(?=[/!])/g, '\\3c ')}</style>`)

/** A web address, or undefined for anything else, such as `javascript:`. */
export function webUrl(text: string | undefined | null): string | undefined {
  const url = text ? URL.parse(text) : null
  return url && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : undefined
}
