// How many bytes an edition is going to add to a video. Pure.

import type { TimelineTask } from '../../media/index.ts'

/** Intro and outro cost as many bytes a second as the video's largest file (`bytes`, `duration` in seconds) does. */
export function growthOf(video: { duration: number; bytes: number; tasks: readonly TimelineTask[] }): number {
  const added = video.tasks.reduce((sum, task) => sum + ('duration' in task ? task.duration : 0), 0)
  return video.duration > 0 ? Math.ceil((video.bytes / video.duration) * added) : 0
}
