// Playlists and hashes of a live, which are rendered from rows; its pieces are files.

import { findLiveStream, hashesOf, latencyModes, masterPlaylist, renditionPlaylist } from '../../actors/live/index.ts'
import { isOpen } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'

const RENDITION = /^(\d{1,4})\.m3u8$/
const MASTER = 'master.m3u8'
const HASHES = 'segments-sha256.json'

export const isOfLive = (filename: string): boolean => filename === MASTER || filename === HASHES || RENDITION.test(filename)

/** The text of such a file; undefined if there is no stream, or if everybody asks (`isPublic`) for one that is not public. */
export async function liveText(
  { db, config }: { db: Database; config: () => Config },
  { uuid, filename, isPublic }: { uuid: string; filename: string; isPublic: boolean },
): Promise<string | undefined> {
  const { segments_in_playlist, segment_duration, small_latency_segment_duration } = config().vireo.live
  const stream = await findLiveStream(db, uuid, segments_in_playlist)
  if (!stream || (isPublic && !isOpen(stream))) return undefined
  const { pieces, isRunning, latencyMode } = stream
  if (filename === MASTER) return masterPlaylist(pieces)
  if (filename === HASHES) return JSON.stringify(hashesOf(0, pieces))
  const rendition = Number(RENDITION.exec(filename)?.[1])
  if (rendition !== 0) return undefined
  const target = latencyMode === latencyModes.small ? small_latency_segment_duration : segment_duration
  return renditionPlaylist({ rendition, pieces, isRunning, target: Math.round(target / 1000) })
}
