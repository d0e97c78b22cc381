// The job of a remote runner that makes the file of an edition. Pure.

import { z } from 'zod'
import { type Retiming, type StudioPlan, WATERMARK, type WantedRendition } from '../../media/index.ts'
import type { InputAddress, RunnerJob } from '../runner/index.ts'

export const REMOTE_TYPE = 'video-studio-transcoding'

const data = z.object({
  editionId: z.number(),
  videoId: z.number(),
  /** UUID of the video. */
  video: z.string(),
  /** The short side of the result in px, 0 for sound only. */
  resolution: z.number(),
  fps: z.number(),
  /** Of the result. */
  seconds: z.number(),
  /** False if the video itself is silent: then the program of the runner decides about the sound of an intro. */
  isHeard: z.boolean(),
  isSoundApart: z.boolean(),
  retiming: z.custom<Retiming>().optional(),
  tasks: z.array(
    z.object({
      name: z.enum(['cut', 'add-intro', 'add-outro', 'add-watermark']),
      start: z.number().nullable(),
      end: z.number().nullable(),
      filename: z.string().nullable(),
    }),
  ),
})
export type RemoteEdition = z.output<typeof data>

export const editionOf = (job: Pick<RunnerJob, 'data'>): RemoteEdition => data.parse(job.data)

/** What the job remembers, so that the files are looked at once. */
export function remoteEditionOf(
  edition: Pick<RemoteEdition, 'editionId' | 'videoId' | 'video' | 'isSoundApart' | 'tasks'>,
  { picture, clips, duration: seconds, retiming }: StudioPlan,
): RemoteEdition {
  return {
    ...edition,
    resolution: picture ? Math.min(picture.width, picture.height) : 0,
    fps: picture ? Math.ceil(picture.rate.num / picture.rate.den) : 0,
    seconds,
    isHeard: clips.some(({ of, sound }) => of === 'video' && sound !== undefined),
    retiming,
  }
}

export const wantedOf = ({ resolution, fps, seconds, isHeard }: RemoteEdition): WantedRendition => ({
  resolution,
  fps,
  duration: seconds,
  hasAudio: isHeard || undefined,
})

/** What the runner is told. */
export function payloadOf(job: RunnerJob, address: InputAddress): Record<string, unknown> {
  const { isSoundApart, tasks } = editionOf(job)
  return {
    input: { videoFileUrl: address('max-quality'), separatedAudioFileUrl: isSoundApart ? [address('max-quality/audio')] : [] },
    tasks: tasks.map(toTask((filename) => address(`studio/task-files/${filename}`))),
  }
}

export function privatePayloadOf(job: RunnerJob): Record<string, unknown> {
  const { video, tasks } = editionOf(job)
  return { videoUUID: video, originalTasks: tasks.map(toTask((filename) => filename)) }
}

const toTask =
  (at: (filename: string) => string) =>
  ({ name, start, end, filename }: RemoteEdition['tasks'][number]) => ({
    name,
    options:
      name === 'cut'
        ? { ...(start === null ? {} : { start }), ...(end === null ? {} : { end }) }
        : { file: at(filename ?? ''), ...(name === 'add-watermark' ? WATERMARK_RATIOS : {}) },
  })

/** One name of the protocol is misspelt. */
const WATERMARK_RATIOS = {
  watermarkSizeRatio: WATERMARK.size,
  horitonzalMarginRatio: WATERMARK.horizontalMargin,
  verticalMarginRatio: WATERMARK.verticalMargin,
}
