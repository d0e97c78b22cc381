// A piece of HTML as a browser reads it, for tests of pages into which hostile words were put.

import { Parser } from 'htmlparser2'

export interface ReadPage {
  /** Tags that none of our pages has. */
  strange: string[]
  /** The texts of blocks for machines. */
  data: string[]
  /** The texts of scripts. */
  inline: string[]
  /** The values of handlers. */
  handlers: string[]
}

const FORBIDDEN = /^(?:iframe|object|embed|base|frame|frameset|style|math|animate|x-evil|applet|template)$/
const ADDRESSES = ['href', 'src', 'action', 'formaction', 'poster', 'data', 'xlink:href', 'data-hls', 'data-next']

/** What in a piece of HTML none of our pages has, and what of it acts. `own`: the origin of the page; `allowed`: names of tags and attributes that it may have. */
export function readPage(html: string, { allowed = /^$/, own }: { allowed?: RegExp; own: string }): ReadPage {
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
