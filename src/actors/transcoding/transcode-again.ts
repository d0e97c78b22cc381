// Makes renditions again on request of an administrator. The old files keep playing until each new file replaces one.

import { type ActorDeps, advance, DomainError, notFound } from '../runtime/index.ts'
import { videoLifecycle } from '../video/index.ts'
import { Video } from '../video/video.entity.ts'
import { isActive, type Transcoding, type TranscodingOutputs } from './transcoding.entity.ts'
import { cancelTranscodings, openTranscodings, planTranscoding, type TranscodingWish } from './transcoding.writes.ts'

type Format = Exclude<TranscodingOutputs, 'both'>

export type TranscodeAgain = ReturnType<typeof makeTranscodeAgain>

export function makeTranscodeAgain({ tell, config }: ActorDeps) {
  /**
   * Requests the renditions of a local video in one format. `force` ends a running transcoding and makes its outputs as well. Throws
   * `not_found`. Throws `invalid` if this server does not transcode, for lives and remote videos, and without a source file. Throws
   * `conflict` if the video is being processed.
   */
  async function transcodeAgain(videoId: number, { format, force }: { format: Format; force: boolean }): Promise<void> {
    if (!config().transcoding.enabled) {
      throw new DomainError('invalid', 'Videos are not transcoded on this server.')
    }
    await tell({ aggregate: 'video', id: videoId }, async (unit) => {
      const video = await unit.em.findOneOrFail(Video, videoId)
      if (video.state === 'removed') throw notFound('Video not found')
      if (video.remote) throw new DomainError('invalid', 'A video of another server is not transcoded here.')
      if (video.isLive) throw new DomainError('invalid', 'A live is not transcoded like a video.')
      const open = await openTranscodings(unit, videoId)
      const isUnderWay = video.state === 'to-transcode' || open.some(({ state }) => isActive(state))
      if (isUnderWay && !force) {
        const code = 'video_already_being_transcoded'
        throw new DomainError('conflict', 'This video is being transcoded already.', { code })
      }
      const [source] = await unit.query(
        `select 1 from video_source where video_id = $1 and kept_filename is not null
         union all select 1 from video_file where video_id = $1 and not outdated limit 1`,
        [videoId],
      )
      if (!source) throw new DomainError('invalid', 'This video has no file to be made of.')
      const wish = retranscodingPlan({ format, open, state: video.state, configured: configured() })
      await cancelTranscodings(unit, videoId, open)
      advance(unit, videoLifecycle, video, {
        type: video.state === 'transcoding-failed' ? 'RETRIED' : 'TRANSCODING_REQUESTED',
      })
      await planTranscoding(unit, videoId, config().vireo.jobs.priorities.transcoding, wish)
    })
  }

  function configured(): Format[] {
    const { hls, web_videos: webVideos } = config().transcoding
    return [...(hls.enabled ? (['hls'] as const) : []), ...(webVideos.enabled ? (['web-video'] as const) : [])]
  }

  return { transcodeAgain }
}

/**
 * The requested outputs and those that the replaced transcodings still owe the video. The original of a finished video stays: it was
 * retained on purpose.
 */
export function retranscodingPlan(options: {
  format: Format
  open: readonly Pick<Transcoding, 'state' | 'outputs' | 'keepSource'>[]
  /** State of the video. */
  state: string
  /** Configured formats for new videos. */
  configured: readonly Format[]
}): TranscodingWish {
  const { format, open, state, configured } = options
  const owed = open.filter((one) => isActive(one.state) || !one.outputs || state === 'transcoding-failed')
  const isLost = open.length === 0 && state !== 'published'
  const formats = new Set<Format>([format, ...(isLost ? configured : [])])
  for (const { outputs } of owed) for (const one of formatsOf(outputs, configured)) formats.add(one)
  return {
    outputs: formats.size > 1 ? 'both' : format,
    keepSource: open.length > 0 ? open.every(({ keepSource }) => keepSource) : state === 'published',
  }
}

function formatsOf(outputs: Transcoding['outputs'], configured: readonly Format[]): readonly Format[] {
  if (!outputs) return configured
  return outputs === 'both' ? ['hls', 'web-video'] : [outputs]
}
