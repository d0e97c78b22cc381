// A page of a built web client: the marks that the server fills, and its inline scripts.

import { hash } from 'node:crypto'
import { Parser } from 'htmlparser2'
import type { Html } from '../../platform/html.ts'

/** The comments that are replaced. */
const MARKS = ['title tag', 'description tag', 'custom css tag', 'meta tags', 'server config'] as const
export type Mark = (typeof MARKS)[number]

export type Template = ReturnType<typeof parseTemplate>

/** A source of `script-src` that allows exactly this text. */
export const sourceOf = (script: string): string => `'sha256-${hash('sha256', script, 'base64')}'`

/** Line endings as browsers normalise them (HTML, 13.2.3.5). */
const asParsed = (text: string): string => text.replace(/\r\n?/g, '\n')

/** Parses a page. A comment is a mark only if a browser sees a comment. */
export function parseTemplate(page: string) {
  const marks: { mark: Mark; start: number; end: number }[] = []
  const scripts = new Set<string>()
  const handlers = new Set<string>()
  let script: string | undefined
  let namesPlatform = false

  const parser = new Parser({
    oncomment(text) {
      const mark = MARKS.find((name) => name === text.trim())
      if (mark) marks.push({ mark, start: parser.startIndex, end: parser.endIndex + 1 })
    },
    onopentag(name, attributes) {
      for (const [key, value] of Object.entries(attributes)) if (/^on/i.test(key)) handlers.add(sourceOf(asParsed(value)))
      if (name === 'script' && attributes.src === undefined) script = ''
      if (name === 'meta' && attributes.property === 'og:platform') namesPlatform = true
    },
    ontext(text) {
      if (script !== undefined) script += text
    },
    onclosetag(name) {
      if (name !== 'script' || script === undefined) return
      scripts.add(sourceOf(asParsed(script)))
      script = undefined
    },
  })
  parser.end(page)

  const pieces = marks.map(({ start }, index) => page.slice(index === 0 ? 0 : marks[index - 1]?.end, start))
  const rest = page.slice(marks.at(-1)?.end ?? 0)
  return {
    /** Inline scripts, as sources of a Content-Security-Policy. */
    scripts: [...scripts],
    /** The same of attributes such as `onload`. */
    handlers: [...handlers],
    /** True if the page contains `og:platform`. */
    namesPlatform,
    has(wanted: Mark): boolean {
      return marks.some(({ mark }) => mark === wanted)
    },
    /** The page with its marks replaced; a mark without a value is removed. */
    fill(values: Partial<Record<Mark, Html>>) {
      return pieces.map((piece, index) => piece + textOf(values, marks[index]?.mark)).join('') + rest
    },
  }
}

const textOf = (values: Partial<Record<Mark, Html>>, mark: Mark | undefined): string => (mark && values[mark]?.text) ?? ''
