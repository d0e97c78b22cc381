// Playlists and hashes of a live, which are rendered from rows; its pieces are files.

import { setTimeout as pause } from 'node:timers/promises'
import { findLiveStream, hashesOf, latencyModes, masterPlaylist, renditionPlaylist, shownRenditions } from '../../actors/live/index.ts'
import { isOpen } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'

const RENDITION = /^(\d{1,4})\.m3u8$/
const MASTER = 'master.m3u8'
const HASHES = 'segments-sha256.json'

export const isOfLive = (filename: string): boolean => filename === MASTER || filename === HASHES || RENDITION.test(filename)

/** How long a player waits for the first piece of a rendition, which is encoded when others ask for it already, in ms. */
const LONGEST_WAIT = 6_000
const LOOK_EVERY = 500

/** The text of such a file; undefined if there is no stream, or if everybody asks (`isPublic`) for one that is not public. */
export async function liveText(
  { db, config }: { db: Database; config: () => Config },
  { uuid, filename, isPublic }: { uuid: string; filename: string; isPublic: boolean },
): Promise<string | undefined> {
  const { segments_in_playlist: most, segment_duration, small_latency_segment_duration } = config().vireo.live
  const number = RENDITION.exec(filename)?.[1]
  const rendition = filename === HASHES ? null : Number(number ?? 0)
  // The encoder may be behind.
  const find = () => findLiveStream(db, { uuid, rendition, most: 2 * most })
  let stream = await find()
  if (!stream || (isPublic && !isOpen(stream))) return undefined
  if (filename === MASTER) return masterPlaylist(stream)
  const shown = new Set(shownRenditions(stream.plan).map(({ rendition }) => rendition))
  if (filename === HASHES) return JSON.stringify(hashesOf(stream.pieces.filter((piece) => shown.has(piece.rendition))))
  if (rendition === null || !shown.has(rendition)) return undefined
  for (let waited = 0; stream.pieces.length === 0 && waited < LONGEST_WAIT; waited += LOOK_EVERY) {
    await pause(LOOK_EVERY)
    stream = (await find()) ?? stream
  }
  const { isRunning, latencyMode, newest } = stream
  const pieces = stream.pieces.slice(-most)
  const last = pieces.at(-1)
  if (!last) return undefined
  const target = latencyMode === latencyModes.small ? small_latency_segment_duration : segment_duration
  return renditionPlaylist({ pieces, isRunning: isRunning || last.sequence < newest, target: Math.round(target / 1000) })
}
