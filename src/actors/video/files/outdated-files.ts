// Files of a video that are about to be replaced. Files of a replaced source stay until the first new file exists and are removed together,
// so that no playlist mixes the two. An uploaded file stays until all its renditions exist.

import { type FileRef, hlsFile, webVideoFile } from '../../../media/index.ts'
import type { Unit } from '../../runtime/index.ts'
import { removeStoryboard } from '../../storyboard/storyboard.writes.ts'
import { applyPendingParts } from './pending-parts.ts'

/** Runs in the transaction that replaces the source. */
export async function outdateFiles(unit: Unit, videoId: number): Promise<void> {
  await unit.query('update video_file set outdated = true where video_id = $1', [videoId])
}

/**
 * Deletes the rows of outdated files and of their storyboard, applies the pending parts, and returns the files, in both the public and the
 * private folder.
 */
export async function dropOutdated(unit: Unit, video: { id: number; uuid: string }): Promise<FileRef[]> {
  const files = await deleteFiles(unit, video.id, 'outdated')
  if (files.length === 0) return []
  await applyPendingParts(unit, video.id)
  // New names, so that no cache returns the old playlist.
  const playlists = await unit.query<{ master: string | null; hashes: string | null }>(
    `delete from streaming_playlist p where p.video_id = $1
       and not exists (select 1 from video_file f where f.streaming_playlist_id = p.id)
     returning playlist_filename as master, segments_sha256_filename as hashes`,
    [video.id],
  )
  const storyboards = await removeStoryboard(unit, video.id)
  return [
    ...refsOf(video.uuid, files),
    ...namesOf(playlists.flatMap(({ master, hashes }) => [master, hashes])).flatMap((name) =>
      [false, true].map((isPrivate) => hlsFile(video.uuid, name, isPrivate)),
    ),
    ...storyboards,
  ]
}

/** Deletes the row of the uploaded file, once its renditions exist, and returns the files. */
export async function dropProvisional(unit: Unit, video: { id: number; uuid: string }): Promise<FileRef[]> {
  return refsOf(video.uuid, await deleteFiles(unit, video.id, 'provisional'))
}

interface DeletedFile {
  filename: string | null
  playlist: string | null
  torrent: string | null
  hls: boolean
}

const deleteFiles = (unit: Unit, videoId: number, which: 'outdated' | 'provisional'): Promise<DeletedFile[]> =>
  unit.query<DeletedFile>(
    `delete from video_file where video_id = $1 and ${which}
     returning filename, playlist_filename as playlist, torrent_filename as torrent, streaming_playlist_id is not null as hls`,
    [videoId],
  )

const refsOf = (uuid: string, files: readonly DeletedFile[]): FileRef[] =>
  files.flatMap(({ filename, playlist, torrent, hls }) => [
    ...namesOf([filename, playlist]).flatMap((name) =>
      [false, true].map((isPrivate) => (hls ? hlsFile(uuid, name, isPrivate) : webVideoFile(name, isPrivate))),
    ),
    ...namesOf([torrent]).map((name): FileRef => ({ kind: 'torrents', name })),
  ])

const namesOf = (all: (string | null)[]): string[] => all.filter((name) => name !== null)
