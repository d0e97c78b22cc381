// The messages of pages and mails, as they stand in the sources.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { screens } from '../../src/http/pages/screens/screens.ts'

const SRC = new URL('../../src/', import.meta.url).pathname

const sourcesIn = (folder: string): string[] =>
  readdirSync(join(SRC, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(SRC, folder, name), 'utf8'))

/** The first argument of every call of `t` and `rich`, and the headings of lists. */
export function messagesOfPages(): Set<string> {
  const found = new Set<string>()
  for (const source of ['http/pages', 'http/mail-preferences', 'actors/mail'].flatMap(sourcesIn)) {
    for (const [call, literal = ''] of source.matchAll(/\b(?:t|rich)\(\s*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|[^)\s]*)/g)) {
      if (!/^['"]./.test(literal)) throw new Error(`A message is written out where it is used: ${call}`)
      found.add(textOf(literal))
    }
  }
  for (const part of screens.flatMap(({ parts }) => parts)) {
    if (typeof part === 'object' && 'list' in part) for (const heading of Object.keys(part.columns)) found.add(heading)
  }
  return found
}

/** Labels of the API that pages show: `label: '…'`, and tables of labels. */
export function labelsOfApi(): Set<string> {
  const found = new Set<string>()
  for (const source of [...sourcesIn('http'), ...sourcesIn('actors')]) {
    for (const [, label = ''] of source.matchAll(/\blabel: ('(?:[^'\\\n]|\\.)*')/g)) found.add(textOf(label))
    for (const [, name = '', table = ''] of source.matchAll(/const (\w*LABELS|\w+Labels|aboutOf)\b[^=]*= \{\n([^}]*)\n\}/g)) {
      if (name === 'languageLabels') continue
      for (const [, text = ''] of table.matchAll(/: ('(?:[^'\\\n]|\\.)*'),?$/gm)) {
        const label = textOf(text)
        found.add(name === 'aboutOf' ? label.charAt(0).toUpperCase() + label.slice(1) : label)
      }
    }
  }
  return found
}

/** Refusals of forms, which pages translate if they have them. */
export function refusals(): Set<string> {
  const found = new Set<string>()
  for (const source of [...sourcesIn('http'), ...sourcesIn('actors')]) {
    const all = source.matchAll(
      /(?:DomainError|HttpError)\(\s*(?:'\w+'|\d+),\s*('[^'\\\n]*')|('Should [^'\\\n]*')|(?:return|[?:]) ('[A-Z][^'\\\n]*')/g,
    )
    for (const [, ...literals] of all) for (const literal of literals) if (literal) found.add(textOf(literal))
  }
  return found
}

const textOf = (literal: string): string => (Function(`return ${literal}`) as () => string)()
