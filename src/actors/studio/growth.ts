// Estimates the additional bytes of an edited video. Pure.

import type { TimelineTask } from '../../media/index.ts'

/** Intro and outro take as many bytes per second as the video's largest file (`bytes`, `duration` in seconds). */
export function growthOf(video: { duration: number; bytes: number; tasks: readonly TimelineTask[] }): number {
  const added = video.tasks.reduce((sum, task) => sum + ('duration' in task ? task.duration : 0), 0)
  return video.duration > 0 ? Math.ceil((video.bytes / video.duration) * added) : 0
}
