// The files of a video whose source was replaced: they stay until the first of the new ones is there, and go at once then,
// so that no playlist ever mixes the two.

import { type FileRef, hlsFile, webVideoFile } from '../../media/index.ts'
import type { Unit } from '../runtime/index.ts'
import { takeComingParts } from './coming-parts.ts'

/** In the transaction that replaces the source. */
export async function outdateFiles(unit: Unit, videoId: number): Promise<void> {
  await unit.query('update video_file set outdated = true where video_id = $1', [videoId])
}

/**
 * Takes the rows of outdated files away, with the storyboard that was made of them, and answers the files, in whichever
 * folder the privacy put them. What was to come with the next file comes.
 */
export async function dropOutdated(unit: Unit, video: { id: number; uuid: string }): Promise<FileRef[]> {
  const files = await unit.query<{
    filename: string | null
    playlist: string | null
    torrent: string | null
    hls: boolean
  }>(
    `delete from video_file where video_id = $1 and outdated
     returning filename, playlist_filename as playlist, torrent_filename as torrent, streaming_playlist_id is not null as hls`,
    [video.id],
  )
  if (files.length === 0) return []
  await takeComingParts(unit, video.id)
  // With other names for the new ones, no cache answers with the old playlist.
  const playlists = await unit.query<{ master: string | null; hashes: string | null }>(
    `delete from streaming_playlist p where p.video_id = $1
       and not exists (select 1 from video_file f where f.streaming_playlist_id = p.id)
     returning playlist_filename as master, segments_sha256_filename as hashes`,
    [video.id],
  )
  const storyboards = await unit.query<{ filename: string }>(
    'delete from storyboard where video_id = $1 returning filename',
    [video.id],
  )
  const names = (all: (string | null)[]): string[] => all.filter((name) => name !== null)
  const hls = names([
    ...files.flatMap((file) => (file.hls ? [file.filename, file.playlist] : [])),
    ...playlists.flatMap(({ master, hashes }) => [master, hashes]),
  ])
  const webVideos = names(files.flatMap((file) => (file.hls ? [] : [file.filename])))
  return [
    ...[false, true].flatMap((isPrivate) => [
      ...hls.map((name) => hlsFile(video.uuid, name, isPrivate)),
      ...webVideos.map((name) => webVideoFile(name, isPrivate)),
    ]),
    ...names(files.map(({ torrent }) => torrent)).map((name): FileRef => ({ kind: 'torrents', name })),
    ...storyboards.map(({ filename }): FileRef => ({ kind: 'storyboards', name: filename })),
  ]
}
