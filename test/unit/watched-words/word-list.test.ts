// Words of lists and the texts in which they are, or are not; and that nobody makes the search for them slow.

import { describe, expect, it } from '@jest/globals'
import { TooComplex } from '../../../src/actors/watched-words/expressions.ts'
import { readText } from '../../../src/actors/watched-words/reading.ts'
import { makeWatchedWords } from '../../../src/actors/watched-words/watched-words.commands.ts'
import { compileWords, LARGEST_OF_INSTANCE } from '../../../src/actors/watched-words/word-list.ts'
import { makeTimeSlices } from '../../../src/platform/time-slices.ts'
import { AT_MOST_MS, startCpuTime } from '../../support/cpu-time.ts'
import fc from '../../support/properties.ts'

const pause = async () => {}
const isFound = async (words: string[], text: string) => await (await compileWords(words, pause)).find(readText(text), pause)

describe('a word', () => {
  it.each([
    ['word', 'one word here'],
    ['word', 'Word'],
    ['word', '(word)!'],
    ['word', '_word_'],
    ['WORD', 'a word.'],
    ['straße', 'STRASSE'],
    ['STRASSE', 'straße'],
    ['οδος', 'ΟΔΟΣ'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['слово', 'Плохое СЛОВО!'],
    ['café', 'cafe\u0301'],
    ['word', 'ｗｏｒｄ'],
    ['word', 'wo\u200brd'],
    ['two words', 'Two\n  words'],
    ['c++', 'I like C++.'],
    ['f*ck', 'what the f*ck'],
    ['a.b', 'a.b'],
    ['(', 'not closed ('],
    ['[a', 'x [a x'],
    ['$100', 'only $100!'],
    ['#tag', 'a #tag'],
    ['坏话', '这是坏话吗'],
    ['ばか', 'このばかが'],
    ['😀', 'well😀done'],
    ['a a b', 'a a a b'],
  ])('%s is in: %s', async (word, text) => {
    expect(await isFound([word], text)).toBe(true)
  })

  it.each([
    ['word', 'sword wordy word1 words'],
    ['word', 'wo rd w-o-r-d'],
    ['слово', 'условия словом'],
    ['two words', 'two more words'],
    ['c++', 'c+'],
    ['a b', 'a, b'],
    ['\u200b', 'anything'],
  ])('%s is not in: %s', async (word, text) => {
    expect(await isFound([word], text)).toBe(false)
  })
})

describe('an expression', () => {
  it.each([
    ['w[o0]+rd', 'a W00RD here'],
    ['colou?r', 'Color'],
    ['w.rd', 'w@rd'],
    ['bad.*word', 'a bad, bad word'],
    ['free (money|gifts)', 'Free Gifts for all'],
    ['\\d{4}', 'call 5555 now'],
    ['^first', 'First!'],
    ['last$', 'at last'],
    ['пло(хо|хой)', 'Плохой'],
    ['坏+', '这坏坏的'],
    ['(😀|😡)+', 'so 😡😡!'],
    ['a\\sb', 'a\u00a0b'],
  ])('%s is in: %s', async (expression, text) => {
    expect(await isFound([expression], text)).toBe(true)
  })

  it.each([
    ['w[o0]+rd', 'sw00rd w00rds'],
    ['пло(хо|хой)', 'плохоe неплохо'],
    ['bad.*word', 'bad\nword'],
    ['^first', 'at first'],
    ['x{2}', 'x xxx'],
  ])('%s is not in: %s', async (expression, text) => {
    expect(await isFound([expression], text)).toBe(false)
  })

  it('does not reach into the others of its list', async () => {
    for (const broken of ['a)|(b', '\\Qx', '(?i', '(?:x', 'x{1001}', '[z-a]', 'a\\']) {
      expect(await isFound([broken, 'y[z]'], 'nothing of b, x or a')).toBe(false)
      expect(await isFound([broken, 'y[z]'], 'yz')).toBe(true)
      expect(await isFound([broken, 'y[z]'], broken)).toBe(true)
    }
  })
})

const plainWord = fc.stringMatching(/^[a-zé0-9а-я]{1,8}$/)
const anyWord = fc.string({ unit: 'binary', minLength: 1, maxLength: 100 })
const compiled = async (words: string[]) => {
  try {
    return await compileWords(words, pause)
  } catch (error) {
    if (error instanceof TooComplex) return undefined
    throw error
  }
}

describe('whatever a list holds', () => {
  it('it is taken or refused as too complex, and looked for in whatever text', async () => {
    const signs = fc.string({ unit: fc.constantFrom(...'ab0.*+?()[]{}|\\^$,-:<>=!PpLsw12\n😀é'), maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(anyWord, signs), { maxLength: 5 }), fc.oneof(anyWord, signs), async (words, text) => {
        const list = await compiled(words)
        expect(typeof (await list?.find(readText(text), pause))).toMatch(/boolean|undefined/)
      }),
      { numRuns: 150 },
    )
  })

  it('a word is in itself, between spaces, however it is written', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyWord, { minLength: 1, maxLength: 3 }), async (words) => {
        const list = await compiled(words)
        const [word = ''] = words
        const isAnything = readText(word).tokens.length > 0
        if (list && isAnything) expect(await list.find(readText(`so ${word} so`), pause)).toBe(true)
      }),
      { numRuns: 150 },
    )
  })

  it('plain words are found exactly where a split at what is no letter and no digit finds them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(plainWord, { minLength: 1, maxLength: 20 }),
        fc.array(fc.oneof(plainWord, fc.constantFrom(' ', ', ', '-', '!')), { maxLength: 40 }),
        async (words, parts) => {
          const text = parts.join('')
          const said = new Set(text.split(/[^\p{L}\p{N}]+/u))
          expect(await isFound(words, text)).toBe(words.some((word) => said.has(word)))
        },
      ),
      { numRuns: 100 },
    )
  })
})

describe('nobody makes the search slow', () => {
  /** The least that it costs the processor of some times: what else happens does not count. */
  async function leastCost(work: () => Promise<unknown>, times = 5): Promise<number> {
    const costs: number[] = []
    for (let i = 0; i < times; i += 1) {
      const cost = startCpuTime()
      await work()
      costs.push(cost())
    }
    return Math.min(...costs)
  }
  const million = (part: string) => part.repeat(Math.ceil(1_000_000 / part.length))

  const expressions = [
    '(a+)+$',
    '(a|a)*b',
    '(a|aa)+c',
    '(?:a|b)*a(?:a|b){7}c',
    '.*.*.*=.*',
    '(.*a){10}',
    'a?a?a?a?a?a?a?a?aaaaaaaa',
    '(?:[ab]{30}){30}c',
  ]
  const texts = ['a', 'ab', 'a b ', '!', 'aA\u0301\u0323', '\u0301\u0323', '\ufdfa', '<a', '坏a', '\u{1f600}']

  it.each(expressions)('%s costs little, in a megabyte of anything', async (expression) => {
    const list = await compiled([expression])
    if (!list) return
    for (const part of texts) {
      const text = million(part)
      expect(await leastCost(() => list.find(readText(text), pause))).toBeLessThanOrEqual(AT_MOST_MS)
    }
  })

  it('fifty lists of five hundred words cost little', async () => {
    const lists = await Promise.all(
      Array.from({ length: 50 }, (_, list) =>
        compileWords(
          Array.from({ length: 500 }, (_word, word) => `${'a '.repeat(word % 40)}w${list}x${word}`),
          pause,
        ),
      ),
    )
    for (const part of ['a ', 'some words of a comment ']) {
      const cost = await leastCost(async () => {
        const read = readText(part.repeat(10_000 / part.length))
        for (const list of lists) await list.find(read, pause)
      })
      expect(cost).toBeLessThanOrEqual(AT_MOST_MS)
    }
  })

  it.each<[string, (n: number) => string]>([
    ['that grow exponentially', (n) => `(?:a|b)*a(?:a|b){${12 + (n % 3)}}`],
    ['that repeat what repeats', (n) => `(?:(?:a?){30}){30}${n}`],
    ['that count letters of all alphabets', (n) => `(?:\\pL{100}){9}${n}`],
    ['that leave gaps', (n) => `a${n}.*b${n}.*c${n}`],
  ])('lists of expressions %s are refused soon, while others have their turn', async (_what, make) => {
    const words = Array.from({ length: 500 }, (_, n) => make(n))
    let turns = 0
    let isDone = false
    const others = () => {
      turns += 1
      if (!isDone) setImmediate(others)
    }
    setImmediate(others)
    const cost = startCpuTime()
    await expect(compileWords(words, makeTimeSlices())).rejects.toThrow(TooComplex)
    isDone = true
    const spent = cost()
    expect(spent).toBeLessThan(5000)
    expect(turns).toBeGreaterThanOrEqual(spent > 100 ? 1 : 0)
  })

  it('a list counts for what it takes of the memory: usual words for little, long phrases for much', async () => {
    const signs = (n: number) => Array.from({ length: 100 }, (_, at) => String.fromCodePoint(0x4e00 + n * 40 + at * 7))
    const usual = await compileWords(
      Array.from({ length: 500 }, (_, n) => `word${n}`),
      pause,
    )
    const phrases = await compileWords(
      Array.from({ length: 500 }, (_, n) => signs(n).join('')),
      pause,
    )
    expect(usual.size * 100).toBeLessThan(LARGEST_OF_INSTANCE)
    // Some 250 bytes for each sign.
    expect(phrases.size * 10).toBeGreaterThan(500 * 99 * 250)
  })

  it('five hundred usual expressions are taken', async () => {
    const list = await compileWords(
      Array.from({ length: 500 }, (_, n) => `b[a4]d${n.toString(36)}(word|thing)s?`),
      makeTimeSlices(),
    )
    expect(list.size).toBeLessThan(LARGEST_OF_INSTANCE)
    expect(await list.find(readText('such b4d7things'), pause)).toBe(true)
  })

  it('no text makes the automata larger', async () => {
    const list = await compileWords(['(?:a|b)*a(?:a|b){7}c'], pause)
    const random = fc.sample(fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 20_000, maxLength: 20_000 }), 3)
    const first = await leastCost(() => list.find(readText(random[0] ?? ''), pause), 1)
    expect(first).toBeLessThanOrEqual(AT_MOST_MS)
  })
})

it('of one owner, few lists are made ready at once, and none of another waits for them', async () => {
  const done: string[] = []
  const add = async (ownerId: number, name: string) => {
    const words = Array.from({ length: name === 'other' ? 1 : 20 }, (_, nth) => `${name}${nth}.*z`)
    await watchedWords.add(ownerId, { name, words })
    done.push(name)
  }
  const unit = { query: async () => [{ id: 1, lists: 0, size: 0 }], now: new Date(0) }
  const create = async (work: (of: typeof unit) => Promise<unknown>) => await work(unit)
  const watchedWords = makeWatchedWords({ tell: { create } } as unknown as Parameters<typeof makeWatchedWords>[0])

  const names = Array.from({ length: 12 }, (_, nth) => `list${nth}`)
  const mine = names.map((name) => add(1, name))
  const [requested] = await Promise.all([Promise.allSettled(mine), add(2, 'other')])
  expect(requested.map((one) => (one.status === 'rejected' ? one.reason.kind : 'taken'))).toEqual([
    ...Array(10).fill('taken'),
    ...Array(2).fill('too_many'),
  ])
  expect(done.indexOf('other')).toBeLessThan(9)
  await expect(add(1, 'later')).resolves.toBeUndefined()
})
