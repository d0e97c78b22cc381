// The lifecycle of a local video, and who is notified when it can be watched.

import { dueIn, initialVideo, type VideoEvent, videoMachine } from '../../state-machines/video.ts'
import { advance, CHECK_OWNER_EVERY, defineLifecycle, type Unit } from '../runtime/index.ts'
import type { Video } from './video.entity.ts'
import { isFederated } from './video.policy.ts'

/** Of local videos: one of another server shows the state that its origin reports. */
export const videoLifecycle = defineLifecycle({
  table: 'video',
  machine: videoMachine,
  initial: initialVideo,
  touches: false,
  dueIn: (state, context) => dueIn(state, context, { check_owner_every: CHECK_OWNER_EVERY }),
})

/** Whether the video was published and plays, also while it is changed. */
export const isOut = ({ state }: { state: string }): boolean => state === 'published' || state === 'to-edit'

export function touch(unit: Unit, video: Video): void {
  video.updatedAt = unit.now
}

/** The video changed in what others see of it: other servers are notified, when they know it. */
export function announceChange(unit: Unit, video: Video): void {
  touch(unit, video)
  if (video.state !== 'published' || !isFederated(video.privacy)) return
  unit.emit({ aggregate: 'video', id: video.id }, 'VideoUpdated', { videoId: video.id })
}

/**
 * Moves the video by the events, in order, and tells once what came of it: that it was published when it was not
 * before, that it changed when it was. The row must be stored already, so that it has its id.
 */
export function moveAndTell(unit: Unit, video: Video, events: readonly VideoEvent[]): void {
  const wasOut = isOut(video)
  const after = video.state === 'to-transcode' ? 'transcoding' : 'upload'
  for (const event of events) advance(unit, videoLifecycle, video, event)
  if (events.length === 0 || video.state !== 'published') return
  touch(unit, video)
  if (!wasOut) {
    video.publishedAt = unit.now
    unit.emit({ aggregate: 'video', id: video.id }, 'VideoShown', { videoId: video.id, after })
  }
  // A video that other servers may not know of is announced when its privacy changes.
  if (!isFederated(video.privacy)) return
  // Nor one that is blocked: it is published by the end of the block.
  if (!wasOut && video.blocked) return
  unit.emit({ aggregate: 'video', id: video.id }, wasOut ? 'VideoUpdated' : 'VideoPublished', {
    videoId: video.id,
  })
}
