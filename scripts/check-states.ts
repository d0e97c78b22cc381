// Part of `npm run check`: only the functions of actors/runtime/lifecycle.ts write states in SQL. For TypeScript assignments states.grit, a
// rule of the linter, checks that.

import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** Files that may write states, and the reasons. */
const EXEMPT: Record<string, string> = {
  'actors/runtime/lifecycle.ts': 'the one place',
  'actors/video/remote/remote-video.ts': 'a video of another server shows the state that its origin reports',
}

const UPDATES = /(?:\bupdate\s+[\w${}.]+(?:\s+(?:as\s+)?\w+)?|\bdo\s+update)\s+set\b/gi
const SETS_STATE = /(?<![\w.])(?:state|remote_state)\s*=/
const INSERTS = /\binsert\s+into\s+\w+\s*\(([^)]*)\)/gi
const STATE_COLUMN = /(?:^|,)\s*(?:state|remote_state)\s*(?:,|$)/

/** The errors of a file in src/, one line each. */
export function stateFaults(file: string, text: string): string[] {
  if (file in EXEMPT || file.startsWith('state-machines/')) return []
  const found = (matches: Iterable<RegExpExecArray>, what: string) => [...matches].map(({ index }) => ({ index, what }))
  const updates = [...text.matchAll(UPDATES)].filter(({ index, 0: { length } }) => SETS_STATE.test(assignmentsAt(text, index + length)))
  // Rows begin in a state that the machine names.
  const inserts = [...text.matchAll(INSERTS)].filter(([, columns = '']) => STATE_COLUMN.test(columns))
  const isInitial = /\binitial[A-Z]\w*/.test(text)
  const faults = [
    ...found(updates, 'sets a state in SQL'),
    ...found(isInitial ? [] : inserts, 'inserts a state that is not the initial one of a lifecycle'),
  ]
  return faults
    .toSorted((a, b) => a.index - b.index)
    .map(({ index, what }) => `src/${file}:${lineAt(text, index)} ${what}: use advance() and its like of actors/runtime`)
}

/** The assignments of a statement, without parenthesised parts. */
function assignmentsAt(text: string, start: number): string {
  let list = ''
  let depth = 0
  for (const [token] of text.slice(start).matchAll(/\b(?:where|from|returning)\b|[\s\S]/gi)) {
    if (token === ')') depth -= 1
    if (depth < 0 || (depth === 0 && token.length > 1)) break
    if (depth === 0) list += token
    if (token === '(') depth += 1
  }
  return list
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../src/', import.meta.url))
  const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith('.ts'))
  const faults = await Promise.all(files.map(async (file) => stateFaults(file, await readFile(root + file, 'utf8'))))
  for (const fault of faults.flat()) console.error(fault)
  console.log(`${files.length} files, ${faults.flat().length} faults`)
  process.exitCode = faults.flat().length === 0 ? 0 : 1
}
