// Extracts the messages of pages and mails from the sources.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeFields } from '../../src/http/config/custom-keys.ts'
import { capital } from '../../src/http/pages/bodies/text.ts'
import { wordsOf } from '../../src/http/pages/screens/fields.ts'
import { screens } from '../../src/http/pages/screens/screens.ts'

const SRC = new URL('../../src/', import.meta.url).pathname

const sourcesIn = (folder: string, except?: RegExp): string[] =>
  readdirSync(join(SRC, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !except?.test(name))
    .map((name) => readFileSync(join(SRC, folder, name), 'utf8'))

/** The first argument of every call of `t` and `rich`, and the headings of lists. */
export function messagesOfPages(): Set<string> {
  const found = new Set<string>()
  for (const source of ['http/pages', 'http/mail-preferences', 'actors/mail'].flatMap((folder) => sourcesIn(folder))) {
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

/** Descriptions and labels of the settings that administrators edit. */
export function wordsOfSettings(): Set<string> {
  const fields = describeFields(() => false)
  return new Set(
    fields.flatMap(({ name, about }) => {
      const [section = ''] = name.split('.')
      const words = [`${capital(about)}.`, wordsOf(section), wordsOf(name.slice(section.length + 1))]
      return words.map((text) => text.replace(/(?<= )\d{1,4}p\b/, '{0}'))
    }),
  )
}

/** Findings and advice of the doctor, with numbered placeholders for values. */
export function findings(): Set<string> {
  const code = sourcesIn('cli/doctor').map((source) => source.replaceAll(/^ *(?:\/\/|\/?\*).*$/gm, ''))
  const literals = code.flatMap((source) => [...source.matchAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g)])
  return new Set(literals.map(([literal]) => numbered(literal)).filter((text) => / /.test(text) && /(?:\.|: \{\d\})$/.test(text)))
}

/** Refusals that only API clients get. */
const FOR_PROGRAMS = /\b(?:runners?|runner-jobs\.ts|host-change|redundancy)\b/

/** Refusals with numbered placeholders for values. */
export function refusalsWithValues(): Set<string> {
  const all = ['http', 'actors', 'federation/fetch']
    .flatMap((folder) => sourcesIn(folder, FOR_PROGRAMS))
    .flatMap((source) => [
      ...source.matchAll(
        /(?:(?:DomainError|HttpError)\(\s*(?:'\w+'|\w+|permanent[^,]*),\s*|problem: |problems\.push\(|msg: |(?=`Should ))(`(?:[^`\\]|\\.)*`)/g,
      ),
    ])
  return new Set(all.map(([, literal = '']) => numbered(literal)).filter((text) => text.includes('{0}')))
}

/** True if the sources contain this text as a literal, such as a refusal or a warning: pages translate literals that have a translation. */
export function isMade(text: string): boolean {
  const pieces = text.split(/\{\d\}/).map(RegExp.escape)
  return new RegExp(`['"\`]${pieces.join('\\$\\{[^`]*?\\}')}['"\`]`).test(allSources())
}

let sources: string | undefined
const allSources = (): string => (sources ??= sourcesIn('.').join('\n'))

/** The text of a literal, with `{0}`, `{1}` … for its expressions. */
function numbered(literal: string): string {
  let count = 0
  const text = literal.startsWith('`') ? literal.replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, () => `{${count++}}`) : literal
  return textOf(text)
}

const textOf = (literal: string): string => (Function(`return ${literal}`) as () => string)()
