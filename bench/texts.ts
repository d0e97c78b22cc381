// CPU time of untrusted texts until they are refused or stored: comments of a megabyte, endless markup, and the search for hostile watched
// words. Tests of the same work allow three times the bar, since they share their processor.

import { toPlainText } from '../src/actors/comment/index.ts'
import { readText } from '../src/actors/watched-words/reading.ts'
import { compileWords } from '../src/actors/watched-words/word-list.ts'
import { startCpuTime } from '../test/support/cpu-time.ts'
import { printTable, verdict } from './table.ts'

const AT_MOST_MS = 20
const TIMES = 20
/** The longest local comment, in characters. */
const LONGEST = 10_000

const pause = async (): Promise<void> => {}
const million = (part: string): string => part.repeat(Math.ceil(1_000_000 / part.length))

const markup: Record<string, string> = {
  'nested tags': '<a><b>'.repeat(20_000),
  links: '<a href="https://peer.example/">z</a>'.repeat(4_000),
  openings: '<'.repeat(100_000),
  attributes: `<a ${'x="1" '.repeat(16_000)}>`,
  'an open tag of white space': `</p${' '.repeat(100_000)}`,
  comments: '<!--'.repeat(25_000),
}

const expressions = ['(a|aa)+c', '(?:a|b)*a(?:a|b){7}c', '.*.*.*=.*', 'a?a?a?a?a?a?a?a?aaaaaaaa']

export async function benchTexts(): Promise<void> {
  const costs: [string, number][] = []
  for (const [name, html] of Object.entries(markup)) {
    costs.push([`text of ${name}`, await leastCost(async () => toPlainText(html, 'text/html', LONGEST))])
  }
  for (const expression of expressions) {
    const list = await compileWords([expression], pause)
    for (const part of ['a', 'ab', 'a b ']) {
      const text = million(part)
      const cost = await leastCost(() => list.find(readText(text), pause))
      costs.push([`${expression} in a megabyte of ${JSON.stringify(part)}`, cost])
    }
  }
  const lists = await Promise.all(Array.from({ length: 50 }, (_, list) => compileWords(wordsOf(list), pause)))
  const read = readText('some words of a comment '.repeat(LONGEST / 24))
  const cost = await leastCost(async () => {
    for (const list of lists) await list.find(read, pause)
  })
  costs.push(['fifty lists of five hundred words', cost])
  printTable(
    ['work', 'CPU ms'],
    costs.map(([name, cost]) => [name, cost.toFixed(1)]),
  )
  verdict('processor time of the dearest', Math.max(...costs.map(([, cost]) => cost)), AT_MOST_MS, ' ms')
}

const wordsOf = (list: number): string[] => Array.from({ length: 500 }, (_, word) => `${'a '.repeat(word % 40)}w${list}x${word}`)

/** The minimum of several runs, in ms: other load does not count. */
async function leastCost(work: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let time = 0; time < TIMES; time += 1) {
    const cost = startCpuTime()
    await work()
    least = Math.min(least, cost())
  }
  return least
}
