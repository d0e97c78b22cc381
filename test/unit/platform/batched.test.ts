import { describe, expect, it } from '@jest/globals'
import { batched } from '../../../src/platform/batched.ts'

describe('batched calls', () => {
  it('are combined when they are simultaneous, and each gets its own result', async () => {
    const rounds: number[][] = []
    const double = batched<number, number>(
      async (items) => {
        rounds.push(items)
        return items.map((item) => item * 2)
      },
      { max: 3 },
    )
    expect(await Promise.all([1, 2, 3, 4, 5].map(double))).toEqual([2, 4, 6, 8, 10])
    expect(rounds).toEqual([
      [1, 2, 3],
      [4, 5],
    ])
  })

  it('fail individually when one of them is bad', async () => {
    const call = batched<string, string>(
      async (items) => {
        if (items.includes('bad')) throw new Error('a bad item')
        return items
      },
      { max: 10 },
    )
    const outcomes = await Promise.allSettled(['one', 'bad', 'two'].map(call))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await call('three')).toBe('three')
  })
})
