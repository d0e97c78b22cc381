// Makes the renditions of a live stream that a server wants from a runner, and sends each piece when it is complete.

import { existsSync, openAsBlob } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { encodeStream, theoreticalBitrate } from '../media/index.ts'
import type { Make } from './making.ts'
import { insist, isFinal } from './protocol.ts'

const payloadOf = z.object({
  input: z.object({ rtmpUrl: z.string().regex(/^rtmps?:\/\//) }),
  output: z.object({
    toTranscode: z
      .array(z.object({ resolution: z.int().min(0).max(4320), fps: z.number().min(0).max(240) }))
      .min(1)
      .max(20),
    /** Seconds. */
    segmentDuration: z.number().min(1).max(60),
    segmentListSize: z.int().min(2).max(1000),
  }),
})

const LOOK_EVERY = 300
/** ms that the publisher may be away, beyond what ffmpeg may need for a picture. */
const PUBLISHER_AWAY = 180_000

export const makeLiveRenditions: Make = async (job, reports, { ffmpeg, limits, threads, folder, signal }) => {
  const { input, output } = payloadOf.parse(job.payload)
  const { toTranscode: renditions, segmentDuration: segmentSeconds, segmentListSize: listSize } = output
  const lost = new AbortController()
  const sent = renditions.map(() => new Set<string>())
  const masterPlaylistFile = new Blob([masterOf(renditions)])
  let isOver = false
  const encoding = encodeStream({
    ffmpeg,
    url: input.rtmpUrl,
    renditions,
    segmentSeconds,
    listSize,
    folder,
    threads,
    limits: { ...limits, stallMs: limits.stallMs + PUBLISHER_AWAY },
    signal: AbortSignal.any([signal, lost.signal]),
  }).finally(() => {
    isOver = true
  })
  // Its error is thrown below.
  encoding.catch(() => undefined)
  while (!isOver) {
    await wait(LOOK_EVERY)
    await sendNew().catch((error: unknown) => {
      // Otherwise they are sent with the next look.
      if (isFinal(error)) lost.abort(error)
    })
  }
  if (lost.signal.aborted) throw lost.signal.reason
  await encoding
  await insist(sendNew)
  return {}

  async function sendNew(): Promise<void> {
    await Promise.all(sent.map((before, place) => sendRendition(place, before)))
  }

  async function sendRendition(place: number, before: Set<string>): Promise<void> {
    const resolutionPlaylistFilename = `${place}.m3u8`
    // There is none before the first piece.
    const playlist = await readFile(join(folder, resolutionPlaylistFilename), 'utf8').catch(() => '')
    const listed = playlist.split('\n').filter((line) => line.endsWith('.ts'))
    for (const videoChunkFilename of listed.filter((name) => !before.has(name))) {
      const path = join(folder, videoChunkFilename)
      // One that waited for too long is gone; the server leaves a gap.
      if (existsSync(path)) {
        const files = { masterPlaylistFile, resolutionPlaylistFile: new Blob([playlist]), videoChunkFile: await openAsBlob(path) }
        await reports.part({ type: 'add-chunk', videoChunkFilename, resolutionPlaylistFilename }, files)
      }
      before.add(videoChunkFilename)
    }
    for (const videoChunkFilename of [...before].filter((name) => !listed.includes(name))) {
      await reports.part({ type: 'remove-chunk', videoChunkFilename, resolutionPlaylistFilename }, {})
      before.delete(videoChunkFilename)
    }
  }
}

/** For servers that store it: this one makes its own. */
function masterOf(renditions: readonly { resolution: number; fps: number }[]): string {
  const entries = renditions.map(({ resolution, fps }, place) => {
    const bandwidth = theoreticalBitrate({ width: resolution * 2, height: resolution, fps }, 'max') + SOUND_BITRATE
    return `#EXT-X-STREAM-INF:BANDWIDTH=${bandwidth}\n${place}.m3u8\n`
  })
  return `#EXTM3U\n#EXT-X-VERSION:6\n${entries.join('')}`
}

/** Bits per second. */
const SOUND_BITRATE = 192_000
