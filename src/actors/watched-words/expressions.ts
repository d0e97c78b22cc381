// Regular expressions (RE2), matched in time linear in the text, whatever the input. They are compiled into complete automata before the
// first text: those that would grow too large are refused, and no text enlarges them.

import { RE2JS, RE2Set } from 're2js'
import { BESIDE_WORDS, signsApart } from './reading.ts'

/** These expressions, or this one, exceed a limit. */
export class TooComplex extends Error {
  override readonly name = 'TooComplex'
}

/** Maximum transitions of one automaton: for one expression, and for several. */
const LARGEST = 40_000
const LARGEST_SHARED = 15_000
/** Each costs time for every text: some 0.1 ms for 10,000 characters. */
const SMALLEST = 2000
/** Maximum instructions of one expression. */
const MAX_INSTRUCTIONS = 1000
/** Expressions per automaton. Those with gaps of any length are not shared, since they would multiply each other. */
const SHARING = 8
const GAP = /\.(?:[*+]|\{\d*,\})/
/** Limit of visited states for building the automata of a list: less than a second. */
const MAX_WORK = 3_000_000
/** Cost of parsing in addition, per instruction. */
const PARSING = 50

const SIGNS = /[\\^$.|?*+()[\]{}]/

/** The expression of a word; undefined if it is literal: without special characters, or invalid. Throws TooComplex. */
function toExpression(word: string): { source: string; instructions: number } | undefined {
  if (!SIGNS.test(word)) return undefined
  const source = signsApart(word.normalize('NFC'))
  try {
    const instructions = RE2JS.compile(source, RE2JS.CASE_INSENSITIVE).programSize()
    // It must also be valid within others.
    newSet().add(among([source]))
    if (instructions > MAX_INSTRUCTIONS) throw new TooComplex(word)
    return { source, instructions }
  } catch (error) {
    if (error instanceof TooComplex) throw error
    return undefined
  }
}

/** Case-sensitive, since case-insensitive parsing is slow. */
const BESIDE = `(?-i:${BESIDE_WORDS})`

const newSet = (): RE2Set => new RE2Set(RE2Set.UNANCHORED, RE2JS.CASE_INSENSITIVE)

/** Any of them, as whole words. */
const among = (sources: readonly string[]): string =>
  `(?:^|${BESIDE})(?:${sources.map((source) => `(?:${source})`).join('|')})(?:${BESIDE}|$)`

interface Work {
  done: number
  pause: () => Promise<void>
}

/** The automata of the words that are expressions. Throws TooComplex. `pause` is awaited regularly. */
export async function compileExpressions(words: readonly string[], options: { pause: () => Promise<void>; largest: number }) {
  const work: Work = { done: 0, pause: options.pause }
  const sets: RE2Set[] = []
  /** Transitions of the automata; small ones count as `SMALLEST`. */
  let size = 0
  for (const sources of await inGroups(words, work)) {
    const shared = sources.length > 1 ? await complete(sources, LARGEST_SHARED, work) : undefined
    const parts = shared ? [shared] : await Promise.all(sources.map((source) => alone(source, work)))
    for (const part of parts) {
      sets.push(part.set)
      size += Math.max(part.size, SMALLEST)
    }
    if (size > options.largest) throw new TooComplex(sources.join(', '))
  }
  return {
    size,
    /** True if one of them matches a text, which is in lower case. `pause` is awaited regularly. */
    async find(text: string, pause: () => Promise<void>): Promise<boolean> {
      for (const set of sets) {
        if (set.match(text).length > 0) return true
        await pause()
      }
      return false
    },
  }
}

async function inGroups(words: readonly string[], work: Work): Promise<string[][]> {
  const groups: string[][] = []
  let open: string[] = []
  for (const word of words) {
    const expression = toExpression(word)
    await work.pause()
    if (!expression) continue
    spend(work, PARSING * expression.instructions, word)
    if (GAP.test(word)) groups.push([expression.source])
    else if (open.push(expression.source) === 1) groups.push(open)
    if (open.length === SHARING) open = []
  }
  return groups
}

async function alone(source: string, work: Work): Promise<{ set: RE2Set; size: number }> {
  const completed = await complete([source], LARGEST, work)
  if (!completed) throw new TooComplex(source)
  return completed
}

function spend(work: Work, steps: number, what: string): void {
  work.done += steps
  if (work.done > MAX_WORK) throw new TooComplex(what)
}

/** A state of the library's automaton. */
interface State {
  nfaStates: { length: number }
}

/** The automaton with all its states and transitions; undefined if it has too many. */
async function complete(sources: readonly string[], largest: number, work: Work): Promise<{ set: RE2Set; size: number } | undefined> {
  const set = newSet()
  set.add(among(sources))
  // Every text begins in the same state.
  set.match('')
  const { dfa } = set
  // One character per distinguished class, and the end of the text. Texts contain no capitals.
  const inputs = [0, ...dfa.classBounds, END_OF_TEXT]
    .map((rune, index) => ({ rune, index }))
    .filter(({ rune }) => rune < CAPITALS.first || rune > CAPITALS.last)
  const states = new Set<State>(dfa.startStates.values())
  for (const state of states) {
    if (states.size * inputs.length > largest) return undefined
    for (const { rune, index } of inputs) {
      const next: State | null = dfa.step(state, index, rune, RE2Set.UNANCHORED)
      if (!next) return undefined
      states.add(next)
    }
    spend(work, inputs.length * (1 + state.nfaStates.length), sources.join(', '))
    await work.pause()
  }
  return { set, size: states.size * inputs.length }
}

const END_OF_TEXT = -1
/** In ASCII. The following characters are a different class, as they are not part of a word. */
const CAPITALS = { first: 0x41, last: 0x5a }
