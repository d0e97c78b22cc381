// The machine `transcoding`.

import { describe, expect, it } from '@jest/globals'
import { step } from '../../../src/state-machines/step.ts'
import { initialTranscoding, type TranscodingEvent, transcodingMachine } from '../../../src/state-machines/transcoding.ts'
import { describeMachine } from './describe-machine.ts'
import { table } from './transcoding.table.ts'

describeMachine(table)

const timedOut = { type: 'TIMED_OUT', settings: { lease: 1, check_owner_every: 1, max_lost: 3 } } as const

function play(...events: TranscodingEvent[]) {
  let at: Parameters<typeof step<typeof transcodingMachine>>[1] = initialTranscoding
  for (const event of events) at = step(transcodingMachine, at, event)
  return at
}

describe('a transcoding', () => {
  it('whose worker dies is planned again and keeps the renditions it made', () => {
    const events = [{ type: 'STARTED', total: 2, made: 0, plan: 'a' }, { type: 'RENDITION_MADE' }, timedOut] as const
    expect(play(...events)).toMatchObject({ state: 'planned', context: { made: 1, lost: 1 } })
  })

  it('whose worker dies three times without making a rendition fails with a reason', () => {
    const round = [{ type: 'STARTED', total: 2, made: 0, plan: 'a' }, timedOut] as const
    expect(play(...round, ...round, ...round)).toMatchObject({
      state: 'failed',
      context: { error: 'The worker was lost too often' },
    })
  })

  it('whose worker makes a rendition between two deaths continues', () => {
    const events = [{ type: 'STARTED', total: 9, made: 0, plan: 'a' }, timedOut] as const
    const progress = [{ type: 'STARTED', total: 9, made: 0, plan: 'a' }, { type: 'RENDITION_MADE' }, timedOut] as const
    expect(play(...events, ...events, ...progress, ...events)).toMatchObject({
      state: 'planned',
      context: { lost: 2 },
    })
  })
})
