// Locations of a video's files in the store, and storing the ladder's files there.

import { MediaError } from './errors.ts'
import type { LadderFile } from './ffmpeg/ladder.ts'
import { buildMasterPlaylist, buildSegmentHashes, type HlsEntry } from './ffmpeg/playlists.ts'
import type { FileRef, Store } from './store/store.ts'

/** `hls/<uuid>`, or `hls/private/<uuid>` for private videos. */
export const hlsFolder = (videoUuid: string, isPrivate: boolean): FileRef => ({
  kind: 'streaming_playlists',
  name: isPrivate ? `hls/private/${videoUuid}` : `hls/${videoUuid}`,
})

export const hlsFile = (videoUuid: string, filename: string, isPrivate: boolean): FileRef => {
  const { kind, name } = hlsFolder(videoUuid, isPrivate)
  return { kind, name: `${name}/${filename}` }
}

export const webVideoFile = (filename: string, isPrivate: boolean): FileRef => ({
  kind: 'web_videos',
  name: isPrivate ? `private/${filename}` : filename,
})

/** `hls/<uuid>`: a copy of a remote HLS playlist with all its files. */
export const mirrorFolder = (videoUuid: string): FileRef => ({ kind: 'redundancy', name: `hls/${videoUuid}` })

export interface StoreLadderOptions {
  store: Store
  files: readonly LadderFile[]
  videoUuid: string
  isPrivate: boolean
}

/** Moves the files of a step into the store. After a crash, a repeated call finishes the work. */
export async function storeLadderFiles({ store, files, videoUuid, isPrivate }: StoreLadderOptions): Promise<void> {
  for (const file of files) {
    if (file.hls) {
      const { playlistPath, entry } = file.hls
      await moveIn(store, hlsFile(videoUuid, file.filename, isPrivate), file.path)
      await moveIn(store, hlsFile(videoUuid, entry.playlistFilename, isPrivate), playlistPath)
    } else {
      await moveIn(store, webVideoFile(file.filename, isPrivate), file.path)
    }
  }
}

async function moveIn(store: Store, ref: FileRef, path: string): Promise<void> {
  try {
    await store.put(ref, { path })
  } catch (error) {
    const isGone = error instanceof MediaError && error.reason === 'not-found'
    if (!isGone || (await store.stat(ref)) === undefined) throw error
  }
}

export interface StoreMasterOptions {
  store: Store
  /** All current renditions of the playlist, also from earlier steps. */
  entries: readonly HlsEntry[]
  videoUuid: string
  isPrivate: boolean
  /** `<uuid>-master.m3u8` and `<uuid>-segments-sha256.json`; the caller removes the old ones. */
  masterFilename: string
  hashesFilename: string
}

/** Writes the master playlist and the document of segment hashes. */
export async function storeMaster(options: StoreMasterOptions): Promise<void> {
  const { store, entries, videoUuid, isPrivate, masterFilename, hashesFilename } = options
  const hashes = Buffer.from(JSON.stringify(buildSegmentHashes(entries)))
  await store.put(hlsFile(videoUuid, hashesFilename, isPrivate), hashes)
  const master = Buffer.from(buildMasterPlaylist(entries))
  await store.put(hlsFile(videoUuid, masterFilename, isPrivate), master)
}
