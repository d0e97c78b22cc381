// Counters of a process: what they add up, and what they leave aside.

import { expect, it } from '@jest/globals'
import { makeCounters } from '../../../src/platform/counters.ts'

it('adds up by labels, in whichever order they come', () => {
  const counters = makeCounters()
  const counter = counters.make({ name: 'a_total', help: 'Things' })
  counter.add({ one: 'a', other: 'b' })
  counter.add({ other: 'b', one: 'a' }, 4)
  counter.add({ one: 'a', other: 'c' }, 0.5)
  expect(counters.read()).toEqual([
    {
      ...{ name: 'a_total', help: 'Things' },
      series: [
        { labels: { one: 'a', other: 'b' }, value: 5 },
        { labels: { one: 'a', other: 'c' }, value: 0.5 },
      ],
    },
  ])
})

it('never goes back, and never leaves the numbers', () => {
  const counters = makeCounters()
  const counter = counters.make({ name: 'a_total', help: 'Things' })
  for (const by of [-1, Number.NaN, 0]) counter.add({}, by)
  expect(counters.read()[0]?.series).toEqual([])
  for (const by of [Number.MAX_VALUE, Number.MAX_VALUE]) counter.add({}, by)
  expect(counters.read()[0]?.series).toEqual([{ labels: {}, value: Number.MAX_VALUE }])
})

it('refuses two of a name', () => {
  const counters = makeCounters()
  counters.make({ name: 'a_total', help: 'Things' })
  expect(() => counters.make({ name: 'a_total', help: 'Others' })).toThrow('a_total')
})
