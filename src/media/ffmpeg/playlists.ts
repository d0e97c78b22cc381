// HLS playlists: parses the media playlist of ffmpeg, and builds the master and the segment hashes.

import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { MediaError } from '../errors.ts'
import { codecsOf } from './mp4-codecs.ts'

/** Bytes of a file in memory while it is hashed. */
const CHUNK_BYTES = 256 * 1024

export interface Segment {
  /** Seconds. */
  duration: number
  /** First byte in the fragmented file. */
  offset: number
  /** Bytes. */
  length: number
}

export interface MediaPlaylist {
  init: { offset: number; length: number }
  segments: Segment[]
  /** Seconds. */
  targetDuration: number
}

/** Data of a rendition for the master playlist and the hashes; the caller stores it with the file. */
export interface HlsEntry {
  /** Short side in px, 0 for sound only. */
  resolution: number
  width: number
  height: number
  /** Frames per second, with fractions. */
  frameRate: number
  hasVideo: boolean
  hasAudio: boolean
  /** Bits per second: the peak and the average of the whole file. */
  bandwidth: number
  averageBandwidth: number
  /** RFC 6381. */
  codecs: string[]
  playlistFilename: string
  filename: string
  /** SHA-256 in hexadecimal of each segment, by its byte range `first-last`. */
  hashes: Record<string, string>
}

/** Parses a playlist of byte ranges in one file. Throws if it is not one. */
export function parseMediaPlaylist(text: string): MediaPlaylist {
  const init = /#EXT-X-MAP:.*BYTERANGE="(\d+)@(\d+)"/.exec(text)
  const target = /#EXT-X-TARGETDURATION:(\d+)/.exec(text)
  if (!init || !target) throw new Error('The media playlist has no init section.')
  const segments = [...text.matchAll(/#EXTINF:([\d.]+),[^\n]*\n#EXT-X-BYTERANGE:(\d+)@(\d+)/g)].map(([, duration, length, offset]) => ({
    duration: Number(duration),
    offset: Number(offset),
    length: Number(length),
  }))
  return {
    init: { length: Number(init[1]), offset: Number(init[2]) },
    segments,
    targetDuration: Number(target[1]),
  }
}

/** Hashes the segments of a fragmented file and reads its codecs, in one pass with constant memory. */
export async function inspectFragmented(path: string, playlist: MediaPlaylist) {
  const handle = await open(path, 'r')
  try {
    const init = Buffer.alloc(playlist.init.length)
    await handle.read(init, 0, init.length, playlist.init.offset)
    const chunk = Buffer.alloc(CHUNK_BYTES)
    const hashes: Record<string, string> = {}
    for (const { offset, length } of playlist.segments) {
      const hash = createHash('sha256')
      const end = offset + length - 1
      for (let at = offset; at <= end; ) {
        const { bytesRead } = await handle.read(chunk, 0, Math.min(chunk.length, end - at + 1), at)
        if (bytesRead === 0) throw new MediaError('failed', 'A segment of the playlist ends after its file.')
        hash.update(chunk.subarray(0, bytesRead))
        at += bytesRead
      }
      hashes[`${offset}-${end}`] = hash.digest('hex')
    }
    return { codecs: codecsOf(init), hashes }
  } finally {
    await handle.close()
  }
}

/**
 * Peak and average in bits per second. The peak is the largest among segments of at least half the target duration (RFC 8216, 4.3.4.2), and
 * never below the average of the file.
 */
export function bandwidthOf({ segments, targetDuration }: MediaPlaylist, fileSize: number) {
  const seconds = segments.reduce((sum, { duration }) => sum + duration, 0)
  const average = seconds > 0 ? Math.round((fileSize * 8) / seconds) : 0
  const rates = segments
    .filter(({ duration }) => duration >= targetDuration / 2)
    .map(({ duration, length }) => Math.round((length * 8) / duration))
  return { bandwidth: Math.max(average, ...rates), averageBandwidth: average }
}

/** The master playlist, highest rendition first; separate sound becomes an alternative rendition group. */
export function buildMasterPlaylist(entries: readonly HlsEntry[]): string {
  const sorted = entries.toSorted((a, b) => b.resolution - a.resolution)
  const videos = sorted.filter(({ hasVideo }) => hasVideo)
  const isSplit = videos.length > 0 && videos.every(({ hasAudio }) => !hasAudio)
  const sound = sorted.find(({ hasVideo, hasAudio }) => hasAudio && !hasVideo)
  const group = isSplit ? sound : undefined
  const lines = ['#EXTM3U', '#EXT-X-VERSION:3', '']
  if (group) {
    const attributes = 'TYPE=AUDIO,GROUP-ID="audio",NAME="Audio",AUTOSELECT=YES,DEFAULT=YES'
    lines.push(`#EXT-X-MEDIA:${attributes},URI="${group.playlistFilename}"`)
  }
  lines.push('')
  for (const entry of sorted) {
    if (entry === group) continue
    lines.push(streamLine(entry, group), entry.playlistFilename, '')
  }
  return lines.join('\n')
}

/** The playlists that a master playlist names. */
export const playlistsOfMaster = (text: string): string[] =>
  text.split(/\r?\n/).flatMap((line) => {
    const name = line.startsWith('#') ? /[:,]URI="([^"]*)"/.exec(line)?.[1] : line.trim()
    return name ? [name] : []
  })

function streamLine(entry: HlsEntry, group: HlsEntry | undefined): string {
  const peak = entry.bandwidth + (group?.bandwidth ?? 0)
  const average = entry.averageBandwidth + (group?.averageBandwidth ?? 0)
  // The average is optional: for a single segment it equals the peak.
  const attributes = [`BANDWIDTH=${peak}`, ...(average === peak ? [] : [`AVERAGE-BANDWIDTH=${average}`])]
  if (entry.hasVideo) {
    attributes.push(`RESOLUTION=${entry.width}x${entry.height}`, `FRAME-RATE=${Number(entry.frameRate.toFixed(3))}`)
  }
  const codecs = [...new Set([...entry.codecs, ...(group?.codecs ?? [])])]
  attributes.push(`CODECS="${codecs.join(',')}"`)
  if (group) attributes.push('AUDIO="audio"')
  return `#EXT-X-STREAM-INF:${attributes.join(',')}`
}

/** The document at `segmentsSha256Url`: hashes by file name and byte range. */
export const buildSegmentHashes = (entries: readonly HlsEntry[]): Record<string, Record<string, string>> =>
  Object.fromEntries(entries.map(({ filename, hashes }) => [filename, hashes]))
