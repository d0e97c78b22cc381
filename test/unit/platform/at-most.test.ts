// Work that waits for its turn.

import { describe, expect, it } from '@jest/globals'
import { atMost } from '../../../src/platform/at-most.ts'
import { latch } from '../../support/waiting.ts'

describe('at most two at once', () => {
  it('lets the third in when one of the others ends, in the order in which they came', async () => {
    const inTurn = atMost(2)
    const begun: number[] = []
    const latches = [latch(), latch(), latch(), latch()]
    const all = latches.map(({ opened }, index) =>
      inTurn(async () => {
        begun.push(index)
        await opened
        return index
      }),
    )
    await Promise.resolve()
    expect(begun).toEqual([0, 1])
    latches[1]?.open()
    await all[1]
    await Promise.resolve()
    expect(begun).toEqual([0, 1, 2])
    for (const { open } of latches) open()
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3])
  })

  it('goes on after work that fails', async () => {
    const inTurn = atMost(1)
    await expect(inTurn(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await inTurn(async () => 'yes')).toBe('yes')
  })
})
