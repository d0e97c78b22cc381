// HTML by template: every value is escaped unless it is HTML already.

export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

type Value = Html | string | number | null | undefined | false | readonly Value[]

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text for an element or for a quoted attribute. */
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char)

/** A piece of HTML. Lists are joined; null, undefined and false give nothing. */
export function html(pieces: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(pieces.reduce((text, piece, index) => text + render(values[index - 1]) + piece))
}

function render(value: Value): string {
  if (value === null || value === undefined || value === false) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value))
  return value.map(render).join('')
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
