// Computes the stretches of the result from the tasks of an edition. Pure.

import { MediaError } from '../errors.ts'

/** A change of a video, in the order of the request. */
export type TimelineTask =
  /** Removes what is before `start` and after `end` (seconds). */
  | { name: 'cut'; start?: number | undefined; end?: number | undefined }
  /** A file of this duration before or after everything. */
  | { name: 'add-intro' | 'add-outro'; duration: number }
  /** A picture over everything so far; later additions do not show it. */
  | { name: 'add-watermark' }

/** A stretch of the result. */
export interface Clip {
  /** The video itself, or the file of the task with that index. */
  of: 'video' | number
  /** Seconds of that file. */
  from: number
  to: number
  /** Indexes of the tasks whose pictures are over it, the lowest first. */
  marks: number[]
}

/** Maps a stretch of the previous video into the edited one, in seconds. */
export interface Retiming {
  from: number
  to: number
  /** New position of `from`. */
  at: number
}

/** Seconds: less than a frame of any video. */
const NOTHING = 0.01

/**
 * The stretches of a video of `duration` seconds. The times of a cut refer to the result of the previous tasks. Throws MediaError `empty`
 * if a task leaves nothing; `task` is its index.
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

/** Position of the video in the result. If nothing of it is left, an empty stretch. */
export function retimingOf(clips: readonly Clip[]): Retiming {
  const index = clips.findIndex(({ of }) => of === 'video')
  const clip = clips[index]
  if (!clip) return { from: 0, to: 0, at: 0 }
  return { from: clip.from, to: clip.to, at: lengthOf(clips.slice(0, index)) }
}

/** Composes two retimings, one after another: maps the source of `first` to the result of `second`. */
export function afterAnother(first: Retiming, second: Retiming): Retiming {
  const moved = first.at - first.from
  const from = Math.max(first.from, second.from - moved)
  const to = Math.min(first.to, second.to - moved)
  if (to <= from) return { from: 0, to: 0, at: 0 }
  return { from, to, at: second.at + from + moved - second.from }
}
