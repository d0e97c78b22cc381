// Finds injected markup in HTML, parsed as a browser does, for tests that put hostile text into pages.

import { Parser } from 'htmlparser2'

export interface InjectedMarkup {
  /** Tags that no page of the server contains. */
  strange: string[]
  /** Contents of JSON-LD blocks. */
  data: string[]
  /** Contents of inline scripts. */
  inline: string[]
  /** Values of event handler attributes. */
  handlers: string[]
}

const FORBIDDEN = /^(?:iframe|object|embed|base|frame|frameset|style|math|animate|x-evil|applet|template)$/
const ADDRESSES = ['href', 'src', 'action', 'formaction', 'poster', 'data', 'xlink:href', 'data-hls', 'data-next']

/** `own`: the origin of the page; `allowed`: names of tags and attributes that are expected on it. */
export function findInjected(html: string, { allowed = /^$/, own }: { allowed?: RegExp; own: string }): InjectedMarkup {
  const strange: string[] = []
  const data: string[] = []
  const inline: string[] = []
  const handlers: string[] = []
  let within: string[] | undefined
  const parser = new Parser({
    onopentag(name, attributes) {
      const tag = `<${name} ${JSON.stringify(attributes)}>`
      within = undefined
      if (FORBIDDEN.test(name) && !allowed.test(name)) strange.push(tag)
      if (name === 'meta' && attributes['http-equiv'] !== undefined) strange.push(tag)
      if (name === 'script' && attributes.src === undefined) {
        within = attributes.type === 'application/ld+json' ? data : inline
        within.push('')
      }
      for (const [key, value] of Object.entries(attributes)) {
        if (/^(?:on|style$|srcdoc$|autofocus$)/.test(key) && !allowed.test(key)) strange.push(tag)
        if (key.startsWith('on')) handlers.push(value)
        if (!ADDRESSES.includes(key)) continue
        const url = URL.parse(value, own)
        if (!url || !/^https?:$/.test(url.protocol)) strange.push(tag)
        else if (
          ['script', 'img', 'link', 'form'].includes(name) &&
          url.origin !== own &&
          attributes.rel !== 'alternate' &&
          attributes.rel !== 'canonical'
        ) {
          strange.push(tag)
        }
      }
    },
    ontext(text) {
      if (within) within[within.length - 1] += text
    },
    onclosetag() {
      within = undefined
    },
  })
  parser.end(html)
  return { strange, data, inline, handlers }
}
