// Moves of a local video through its machine, and what others are told when it can be watched.

import { can, IllegalMove, step } from '../../state-machines/step.ts'
import {
  dueIn,
  initialVideo,
  type VideoContext,
  type VideoEvent,
  type VideoState,
  videoMachine,
} from '../../state-machines/video.ts'
import { DomainError, type Unit } from '../runtime/index.ts'
import type { Video } from './video.entity.ts'
import { isFederated } from './video.policy.ts'

/** How often the sweeper makes sure that a video has the job it waits for, in ms. */
export const CHECK_OWNER_EVERY = 60_000

/** Sends one event to the machine of a video. Throws `conflict` when it cannot take the event now. */
export function moveVideo(unit: Unit, video: Video, event: VideoEvent): void {
  const from = snapshotOf(video)
  try {
    const { state, context } = step(videoMachine, from, event)
    video.state = state
    video.context = { ...context }
    const wait = dueIn(state, context, { check_owner_every: CHECK_OWNER_EVERY })
    video.dueAt = wait === null ? null : new Date(unit.now.getTime() + wait)
  } catch (error) {
    if (!(error instanceof IllegalMove)) throw error
    throw new DomainError('conflict', `This video is ${video.state} and cannot take this.`, { cause: error })
  }
}

/** Whether the video's machine takes the event now. */
export const takes = (video: Video, event: VideoEvent): boolean => can(videoMachine, snapshotOf(video), event)

/** Whether the video was published and plays, also while it is changed. */
export const isOut = ({ state }: { state: string }): boolean => state === 'published' || state === 'to-edit'

/** The machine's context of a row. */
export const contextOf = (video: Video): VideoContext => ({ ...initialVideo.context, ...video.context })

const snapshotOf = (video: Video) => ({ state: video.state as VideoState, context: contextOf(video) })

/**
 * Moves the video by the events, in order, and tells once what came of it: that it was published when it was not
 * before, that it changed when it was. The row must be stored already, so that it has its id.
 */
export function moveAndTell(unit: Unit, video: Video, events: readonly VideoEvent[]): void {
  const wasOut = isOut(video)
  const after = video.state === 'to-transcode' ? 'transcoding' : 'upload'
  for (const event of events) moveVideo(unit, video, event)
  if (events.length === 0 || video.state !== 'published') return
  video.updatedAt = unit.now
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
