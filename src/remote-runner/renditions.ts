// Makes the renditions that a server wants from a runner, with the ladder of the local worker.

import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { joinStreams, type LadderPlan, type LadderSettings, planLadder, probe, runLadder } from '../media/index.ts'
import { newUuid } from '../platform/ids.ts'
import { downloadsInto, type Make } from './making.ts'

const output = z.object({ resolution: z.number(), fps: z.number(), separatedAudio: z.boolean().optional() })
const payloads = {
  video: z.object({ input: z.object({ videoFileUrl: z.string(), separatedAudioFileUrl: z.array(z.string()).default([]) }), output }),
  merge: z.object({ input: z.object({ audioFileUrl: z.string(), previewFileUrl: z.string() }), output }),
}

export const makeRendition: Make = async ({ type, payload }, reports, making) => {
  const { ffmpeg, limits, threads, folder, signal, progress } = making
  const inFolder = downloadsInto(reports, making)
  const { input, stillPath, wanted } = await inputsOf()
  const plan = onlyWanted(await planned(), wanted.resolution)
  let made: Record<string, string> = {}
  await runLadder({
    ffmpeg,
    plan,
    input,
    stillPath,
    threads,
    limits,
    signal,
    newUuid,
    workFolder: join(folder, 'work'),
    onProgress: progress,
    // The ladder removes its folder at the end: the files are moved out of it.
    onFiles: async ([file]) => {
      if (file) made = await takeOut(file)
    },
  })
  return made

  async function takeOut(file: { path: string; hls: { playlistPath: string } | undefined }): Promise<Record<string, string>> {
    const videoFile = join(folder, 'result.mp4')
    await rename(file.path, videoFile)
    if (!file.hls) return { videoFile }
    const resolutionPlaylistFile = join(folder, 'result.m3u8')
    await rename(file.hls.playlistPath, resolutionPlaylistFile)
    return { videoFile, resolutionPlaylistFile }
  }

  async function inputsOf() {
    if (type === 'vod-audio-merge-transcoding') {
      const { input, output: wanted } = payloads.merge.parse(payload)
      const path = await inFolder(input.audioFileUrl, 'input')
      return { input: path, stillPath: await inFolder(input.previewFileUrl, 'preview.jpg'), wanted }
    }
    const { input, output: wanted } = payloads.video.parse(payload)
    const picture = await inFolder(input.videoFileUrl, 'input')
    const [soundUrl] = input.separatedAudioFileUrl
    if (!soundUrl) return { input: picture, stillPath: undefined, wanted }
    const target = join(folder, 'joined.mp4')
    await joinStreams({ ffmpeg, picture, sound: await inFolder(soundUrl, 'sound'), target, limits, signal })
    return { input: target, stillPath: undefined, wanted }
  }

  async function planned(): Promise<LadderPlan> {
    const isHls = type === 'vod-hls-transcoding'
    const settings: LadderSettings = {
      always_transcode_original_resolution: true,
      fps: { max: wanted.fps > 0 ? wanted.fps : MAX_FPS },
      hls: { enabled: isHls, split_audio_and_video: wanted.separatedAudio ?? false },
      web_videos: { enabled: !isHls },
      resolutions: { ...NONE, [`${wanted.resolution}p`]: true },
    }
    return planLadder({ probe: await probe({ ffmpeg, path: input, signal }), settings })
  }
}

const MAX_FPS = 60
const NONE: LadderSettings['resolutions'] = {
  '0p': false,
  '144p': false,
  '240p': false,
  '360p': false,
  '480p': false,
  '720p': false,
  '1080p': false,
  '1440p': false,
  '2160p': false,
}

function onlyWanted(plan: LadderPlan, resolution: number): LadderPlan {
  const copied = plan.copied?.resolution === resolution ? plan.copied : undefined
  const encoded = copied ? [] : plan.encoded.filter((rendition) => rendition.resolution === resolution)
  if (!copied && encoded.length === 0) throw new Error(`The input has no rendition of ${resolution} lines.`)
  return { ...plan, copied, encoded, quick: undefined }
}
