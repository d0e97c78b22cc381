// The jobs of remote runners that make the renditions of a ladder. Pure.

import type { LadderPlan, RenditionPlan, WantedRendition } from '../../media/index.ts'
import type { InputAddress, RunnerJob } from '../runner/index.ts'

export const remoteTypes = ['vod-web-video-transcoding', 'vod-hls-transcoding', 'vod-audio-merge-transcoding'] as const
export type RemoteType = (typeof remoteTypes)[number]

/** A job of a ladder. */
export interface RemoteRendition {
  type: RemoteType
  resolution: number
  fps: number
  /** Its place of the job that must be completed first; null for the first one. */
  parent: number | null
}

/**
 * In order: the first makes the playlist, or the picture under a sound file, that the others need. With separate sound that comes first,
 * as a picture would be silent without it.
 */
export function remoteRenditionsOf({ copied, encoded, outputs, source, splitAudio }: LadderPlan): RemoteRendition[] {
  const renditions = [...(copied ? [copied] : []), ...encoded]
  const isMerged = source.picture === 'still'
  // The server packages a merged file itself, in all formats.
  const [top, ...lower] = isMerged ? renditions : [undefined, ...renditions]
  const rest = lower.filter((rendition) => rendition !== undefined && !(isMerged && splitAudio && !rendition.video)) as RenditionPlan[]
  const web = outputs.webVideos ? rest : []
  const sound = splitAudio ? rest.filter(({ video }) => !video) : []
  const hls = outputs.hls ? [...sound, ...rest.filter((rendition) => !sound.includes(rendition))] : []
  const of = (type: RemoteType, list: readonly (RenditionPlan | undefined)[]) =>
    list.flatMap((one) => (one ? [{ type, resolution: one.resolution, fps: one.fps }] : []))
  const firstWeb = of('vod-web-video-transcoding', web.slice(0, 1))
  const jobs = [
    ...of('vod-audio-merge-transcoding', [top]),
    ...firstWeb,
    ...of('vod-hls-transcoding', hls),
    ...of('vod-web-video-transcoding', web.slice(1)),
  ]
  // The first web video is watchable soon; the first HLS makes the playlist.
  const last = firstWeb.length > 0 && hls.length > 0 && !isMerged ? 1 : 0
  return jobs.map((job, place) => ({ ...job, parent: place === 0 ? null : Math.min(place - 1, last) }))
}

/** Facts about the whole ladder in the data of each job. */
export interface RemoteFacts {
  transcodingId: number
  videoId: number
  /** UUID of the video. */
  video: string
  plan: LadderPlan
  /** True if the sound of the source is in a file of its own. */
  hasSoundApart: boolean
  /** The row of the uploaded file, if that is removed at the end. */
  inputFileId: number | null
  isNewVideo: boolean
}

export const dataOf = ({ type, resolution, fps }: RemoteRendition, facts: RemoteFacts) => ({
  transcodingId: facts.transcodingId,
  videoId: facts.videoId,
  video: facts.video,
  resolution,
  fps,
  seconds: facts.plan.duration,
  sound: Number(facts.plan.source.audioIndex !== undefined),
  soundApart: Number(facts.hasSoundApart),
  separatedAudio: Number(facts.plan.splitAudio),
  merged: Number(facts.plan.source.picture === 'still' && type !== 'vod-audio-merge-transcoding'),
  isNewVideo: Number(facts.isNewVideo),
  ...(facts.inputFileId === null ? {} : { inputFileId: facts.inputFileId }),
})

/** What the runner is told. */
export function payloadOf({ type, data }: RunnerJob, address: InputAddress): Record<string, unknown> {
  const output = { fps: data.fps, resolution: data.resolution }
  if (type === 'vod-audio-merge-transcoding') {
    return { input: { audioFileUrl: address('max-quality'), previewFileUrl: address('previews/max-quality') }, output }
  }
  const separatedAudioFileUrl = data.soundApart ? [address('max-quality/audio')] : []
  return {
    input: { videoFileUrl: address('max-quality'), separatedAudioFileUrl },
    output: type === 'vod-hls-transcoding' ? { ...output, separatedAudio: Boolean(data.separatedAudio) } : output,
  }
}

export const privatePayloadOf = ({ type, data }: RunnerJob): Record<string, unknown> => ({
  videoUUID: data.video,
  isNewVideo: Boolean(data.isNewVideo),
  ...(type === 'vod-hls-transcoding' ? { deleteWebVideoFiles: false } : { deleteInputFileId: data.inputFileId ?? null }),
})

export const wantedOf = ({ type, data }: RunnerJob): WantedRendition => {
  const resolution = Number(data.resolution)
  const isSilent = type === 'vod-hls-transcoding' && Boolean(data.separatedAudio) && resolution > 0
  return { resolution, fps: Number(data.fps), hasAudio: Boolean(data.sound) && !isSilent, duration: Number(data.seconds) }
}
