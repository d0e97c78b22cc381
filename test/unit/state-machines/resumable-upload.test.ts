// The machine `resumable-upload`.

import { describe, expect, it } from '@jest/globals'
import { initialResumableUpload, resumableUploadMachine } from '../../../src/state-machines/resumable-upload.ts'
import { step } from '../../../src/state-machines/step.ts'
import { describeMachine } from './describe-machine.ts'
import { table } from './resumable-upload.table.ts'

describeMachine(table)

describe('a resumable upload', () => {
  it('that meets a gap, a rewind or an overflow keeps its true offset', () => {
    const receiving = step(resumableUploadMachine, initialResumableUpload(10), {
      type: 'CHUNK_STORED',
      from: 0,
      bytes: 4,
    })
    for (const [from, bytes] of [
      [5, 5],
      [0, 4],
      [4, 7],
    ] as const) {
      const after = step(resumableUploadMachine, receiving, { type: 'CHUNK_STORED', from, bytes })
      expect(after).toEqual({ state: 'receiving', context: { size: 10, received: 4 }, changed: false })
    }
  })

  it('is completed by the chunk that reaches its size, and by no other', () => {
    let at: Parameters<typeof step<typeof resumableUploadMachine>>[1] = initialResumableUpload(3)
    const states = [0, 1, 2].map((from) => {
      at = step(resumableUploadMachine, at, { type: 'CHUNK_STORED', from, bytes: 1 })
      return at.state
    })
    expect(states).toEqual(['receiving', 'receiving', 'assembled'])
  })
})
