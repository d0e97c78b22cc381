// The machine `video`.

import { describe, expect, it } from '@jest/globals'
import { statesOf } from '../../../scripts/machines.ts'
import { step } from '../../../src/state-machines/step.ts'
import { initialVideo, stateId, stateOf, type VideoEvent, videoMachine, videoStateIds } from '../../../src/state-machines/video.ts'
import { describeMachine } from './describe-machine.ts'
import { table } from './video.table.ts'

describeMachine(table)

function play(...events: VideoEvent[]) {
  let at: Parameters<typeof step<typeof videoMachine>>[1] = initialVideo
  for (const event of events) at = step(videoMachine, at, event)
  return at
}

const uploaded = (waitTranscoding: boolean) => ({ type: 'ADDED', source: 'upload', isAwaited: true, waitTranscoding }) as const

describe('a video', () => {
  it('that does not wait is published with its first rendition', () => {
    expect(play(uploaded(false), { type: 'RENDITION_STORED' }).state).toBe('published')
  })

  it('that waits is published with its whole ladder only', () => {
    const half = [uploaded(true), { type: 'RENDITION_STORED' }, { type: 'RENDITION_STORED' }] as const
    expect(play(...half)).toMatchObject({ state: 'to-transcode', context: { renditions: 2 } })
    expect(play(...half, { type: 'TRANSCODED' }).state).toBe('published')
  })

  it('that can be played stays public when a later rendition fails', () => {
    const events = [uploaded(false), { type: 'RENDITION_STORED' }, { type: 'TRANSCODING_FAILED', error: 'x' }] as const
    expect(play(...events)).toMatchObject({ state: 'published', context: { error: 'x' } })
  })

  it('that cannot be played is not public until its transcoding is retried with success', () => {
    const failed = [uploaded(false), { type: 'TRANSCODING_FAILED', error: 'x' }] as const
    expect(stateId(play(...failed).state)).toBe(7)
    expect(play(...failed, { type: 'RETRIED' }, { type: 'TRANSCODED' }).state).toBe('published')
  })

  it('that is removed accepts no more events', () => {
    const removed = play(uploaded(false), { type: 'REMOVED' })
    for (const row of table.rows) expect(() => step(videoMachine, removed, row.event)).toThrow()
  })

  it('shows the contract’s number of each state, and reads it back', () => {
    for (const [state, id] of Object.entries(videoStateIds)) expect(stateOf(id)).toBe(state)
    expect(Object.values(videoStateIds).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    expect([...Object.keys(videoStateIds), 'none', 'removed'].sort()).toEqual(statesOf(videoMachine).sort())
    expect([stateId('none'), stateId('removed'), stateId('published')]).toEqual([null, null, 1])
    expect([stateOf(0), stateOf(12), stateOf(1.5)]).toEqual([undefined, undefined, undefined])
  })
})
