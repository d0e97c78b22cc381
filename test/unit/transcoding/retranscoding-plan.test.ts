// What a transcoding that is asked for by hand makes beside what was asked for, and whether the original stays.

import { describe, expect, it } from '@jest/globals'
import { retranscodingPlan } from '../../../src/actors/transcoding/transcode-again.ts'

const published = { open: [], state: 'published', configured: ['hls'] as const }
const fresh = { outputs: null, keepSource: false }

describe('a transcoding that is asked for', () => {
  it('makes the one format of a video that is done, whose original stays', () => {
    expect(retranscodingPlan({ ...published, format: 'web-video' })).toEqual({ outputs: 'web-video', keepSource: true })
  })

  it('makes what a new video is still owed as well', () => {
    const open = [{ ...fresh, state: 'running' }]
    const asked = { ...published, open, format: 'web-video', state: 'to-transcode' } as const
    expect(retranscodingPlan(asked)).toEqual({ outputs: 'both', keepSource: false })
    expect(retranscodingPlan({ ...asked, format: 'hls' })).toEqual({ outputs: 'hls', keepSource: false })
  })

  it('makes what failed as well', () => {
    const open = [{ outputs: 'both', keepSource: false, state: 'failed' } as const]
    expect(retranscodingPlan({ ...published, open, format: 'hls', state: 'transcoding-failed' })).toEqual({
      outputs: 'both',
      keepSource: false,
    })
  })

  it('leaves alone what was asked for once, failed, and is not missed', () => {
    const open = [{ outputs: 'web-video', keepSource: true, state: 'failed' } as const]
    expect(retranscodingPlan({ ...published, open, format: 'hls' })).toEqual({ outputs: 'hls', keepSource: true })
  })

  it('makes all that is configured of a video that lost its transcoding', () => {
    expect(retranscodingPlan({ ...published, format: 'web-video', state: 'to-transcode' })).toEqual({
      outputs: 'both',
      keepSource: false,
    })
  })
})
