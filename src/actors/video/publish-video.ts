// The lifecycle of a local video, and the events when it becomes watchable.

import { dueIn, initialVideo, type VideoEvent, videoMachine } from '../../state-machines/video.ts'
import { advance, CHECK_OWNER_EVERY, defineLifecycle, type Unit } from '../runtime/index.ts'
import { isFederatedState, type Video } from './video.entity.ts'
import { isFederated } from './video.policy.ts'
import { announceVideo } from './videos-changed.ts'

/** For local videos only. A remote video shows the state that its origin reports. */
export const videoLifecycle = defineLifecycle({
  table: 'video',
  machine: videoMachine,
  initial: initialVideo,
  touches: false,
  dueIn: (state, context) => dueIn(state, context, { check_owner_every: CHECK_OWNER_EVERY }),
})

/** True if the video is published and plays, also while it is being changed. */
export const isPublished = ({ state }: { state: string }): boolean => state === 'published' || state === 'to-edit'

export function touch(unit: Unit, video: Video): void {
  video.updatedAt = unit.now
}

/** Announces a change to other servers if they know the video. */
export function announceChange(unit: Unit, video: Video): void {
  touch(unit, video)
  if (!isFederatedState(video.state) || !isFederated(video.privacy)) return
  unit.emit({ aggregate: 'video', id: video.id }, 'VideoUpdated', { videoId: video.id })
}

/** True if other servers know such a video, unless its privacy or a block prevents it. */
export const isKnownInState = ({ state }: { state: string }): boolean => isPublished({ state }) || isFederatedState(state)

/**
 * Applies the events in order and announces the result once: as published if other servers could not know it before, otherwise as changed.
 * The row must have its id already.
 */
export function advanceAndAnnounce(unit: Unit, video: Video, events: readonly VideoEvent[]): void {
  const wasPublished = isPublished(video)
  const wasKnown = isKnownInState(video)
  const after = video.state === 'to-transcode' ? 'transcoding' : 'upload'
  const before = video.state
  for (const event of events) advance(unit, videoLifecycle, video, event)
  if (video.state !== before) announceVideo(unit, video.id)
  if (events.length === 0 || !isFederatedState(video.state)) return
  touch(unit, video)
  if (!wasPublished && video.state === 'published') {
    video.publishedAt = unit.now
    unit.emit({ aggregate: 'video', id: video.id }, 'VideoShown', { videoId: video.id, after })
  }
  // A video that is not federated is announced when its privacy changes.
  if (!isFederated(video.privacy)) return
  // A blocked video is published when the block ends.
  if (!wasKnown && video.blocked) return
  unit.emit({ aggregate: 'video', id: video.id }, wasKnown ? 'VideoUpdated' : 'VideoPublished', { videoId: video.id })
}
