// What a requested transcoding makes in addition, and whether it keeps the original.

import { describe, expect, it } from '@jest/globals'
import { retranscodingPlan } from '../../../src/actors/transcoding/transcode-again.ts'

const published = { open: [], state: 'published', configured: ['hls'] as const }
const fresh = { outputs: null, keepSource: false }

describe('a requested transcoding', () => {
  it('makes one format of a completed video, and keeps its original', () => {
    expect(retranscodingPlan({ ...published, format: 'web-video' })).toEqual({ outputs: 'web-video', keepSource: true })
  })

  it('also makes what a new video still lacks', () => {
    const open = [{ ...fresh, state: 'running' }]
    const requested = { ...published, open, format: 'web-video', state: 'to-transcode' } as const
    expect(retranscodingPlan(requested)).toEqual({ outputs: 'both', keepSource: false })
    expect(retranscodingPlan({ ...requested, format: 'hls' })).toEqual({ outputs: 'hls', keepSource: false })
  })

  it('also makes what failed', () => {
    const open = [{ outputs: 'both', keepSource: false, state: 'failed' } as const]
    expect(retranscodingPlan({ ...published, open, format: 'hls', state: 'transcoding-failed' })).toEqual({
      outputs: 'both',
      keepSource: false,
    })
  })

  it('skips a failed earlier request that nothing needs', () => {
    const open = [{ outputs: 'web-video', keepSource: true, state: 'failed' } as const]
    expect(retranscodingPlan({ ...published, open, format: 'hls' })).toEqual({ outputs: 'hls', keepSource: true })
  })

  it('makes everything configured for a video that lost its transcoding', () => {
    expect(retranscodingPlan({ ...published, format: 'web-video', state: 'to-transcode' })).toEqual({
      outputs: 'both',
      keepSource: false,
    })
  })
})
