// What of a video is left after its tasks, and where it comes: the stretches of the result, one after the other. Pure.

import { MediaError } from '../errors.ts'

/** A change of a video, in the order in which its owner asked for them. */
export type TimelineTask =
  /** What is before `start` and after `end` (seconds) goes. */
  | { name: 'cut'; start?: number | undefined; end?: number | undefined }
  /** A file of so many seconds before or after all that there is. */
  | { name: 'add-intro' | 'add-outro'; duration: number }
  /** A picture over all that there is now; what is added later does not show it. */
  | { name: 'add-watermark' }

/** A stretch of the result. */
export interface Clip {
  /** The video itself, or the file of the task with that index. */
  of: 'video' | number
  /** Seconds of that file. */
  from: number
  to: number
  /** The indexes of the tasks whose pictures lie over it, the lowest first. */
  marks: number[]
}

/** Where a stretch of the video before is in the video after, in seconds. */
export interface Retiming {
  from: number
  to: number
  /** Where `from` comes. */
  at: number
}

/** Seconds: less than a frame of any video is nothing. */
const NOTHING = 0.01

/**
 * The stretches of a video of `duration` seconds. A cut counts the seconds of what the tasks before it made. Throws MediaError
 * `empty` when a task leaves nothing; `task` is its index.
 */
export function arrangeClips(duration: number, tasks: readonly TimelineTask[]): Clip[] {
  let clips: Clip[] = [{ of: 'video', from: 0, to: duration, marks: [] }]
  tasks.forEach((task, index) => {
    switch (task.name) {
      case 'cut':
        clips = cut(clips, task.start ?? 0, task.end ?? Number.POSITIVE_INFINITY)
        if (clips.length === 0) throw new NothingLeft(index)
        break
      case 'add-intro':
        clips = [{ of: index, from: 0, to: task.duration, marks: [] }, ...clips]
        break
      case 'add-outro':
        clips = [...clips, { of: index, from: 0, to: task.duration, marks: [] }]
        break
      case 'add-watermark':
        clips = clips.map((clip) => ({ ...clip, marks: [...clip.marks, index] }))
    }
  })
  return clips
}

/** A cut that leaves nothing of the video. */
export class NothingLeft extends MediaError {
  readonly task: number

  constructor(task: number) {
    super('empty', 'The cut leaves nothing of the video.')
    this.task = task
  }
}

function cut(clips: readonly Clip[], start: number, end: number): Clip[] {
  let at = 0
  return clips.flatMap((clip) => {
    const [begin, length] = [at, clip.to - clip.from]
    at += length
    const from = clip.from + Math.max(0, start - begin)
    const to = clip.from + Math.min(length, end - begin)
    return to - from < NOTHING ? [] : [{ ...clip, from, to }]
  })
}

export const lengthOf = (clips: readonly Clip[]): number => clips.reduce((sum, { from, to }) => sum + to - from, 0)

/** Where the video itself is in the result. Nothing of it is an empty stretch. */
export function retimingOf(clips: readonly Clip[]): Retiming {
  const index = clips.findIndex(({ of }) => of === 'video')
  const clip = clips[index]
  if (!clip) return { from: 0, to: 0, at: 0 }
  return { from: clip.from, to: clip.to, at: lengthOf(clips.slice(0, index)) }
}

/** Both, one after the other: what `second` says of the result of `first`, said of what `first` was made of. */
export function afterAnother(first: Retiming, second: Retiming): Retiming {
  const moved = first.at - first.from
  const from = Math.max(first.from, second.from - moved)
  const to = Math.min(first.to, second.to - moved)
  if (to <= from) return { from: 0, to: 0, at: 0 }
  return { from, to, at: second.at + from + moved - second.from }
}
