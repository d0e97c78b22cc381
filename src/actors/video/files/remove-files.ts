// Removes files of a video: a whole format or one file, as long as something playable is left. A playlist that loses a rendition is
// rewritten under a new name, so that no cache returns one that names removed files.

import { type FileRef, type HlsEntry, hlsFile, type Store, storeMaster, webVideoFile } from '../../../media/index.ts'
import type { Columns, Sql } from '../../../platform/database/index.ts'
import { newUuid } from '../../../platform/ids.ts'
import { type ActorDeps, DomainError, notFound, type Unit } from '../../runtime/index.ts'
import { announceChange } from '../publish-video.ts'
import { Video } from '../video.entity.ts'
import { hasPrivateFiles } from '../video.policy.ts'
import { type FilesAsked, filesToRemove, type RemovableFile } from './file-removal.ts'
import { type FileStorage, fileStorages, storageOf } from './file-storage.ts'
import type { Leases, PendingFiles } from './pending-files.ts'
import { isBeingProcessed, stillBeingProcessed } from './processing-videos.ts'
import { queueTorrents } from './queue-torrents.ts'

interface StoredFile extends RemovableFile {
  filename: string | null
  playlist: string | null
  torrent: string | null
  entry: HlsEntry | null
}

interface Stored extends Columns<Video, 'uuid' | 'remote' | 'privacy' | 'blocked'> {
  master: string | null
  hashes: string | null
  isBeingProcessed: boolean
  files: StoredFile[]
}

interface Removal {
  stored: Stored
  gone: StoredFile[]
  /** Entries that stay in the playlist. */
  entries: HlsEntry[]
  /** True if the playlist is removed as well. */
  lastOfHls: boolean
  isPrivate: boolean
}

interface PlaylistNames {
  masterFilename: string
  hashesFilename: string
  storage: FileStorage
}

export type RemoveFiles = ReturnType<typeof makeRemoveFiles>

export function makeRemoveFiles(deps: ActorDeps & { store: Store; pendingFiles: PendingFiles; leases: Leases }) {
  const { db, tell, config, store, pendingFiles, leases } = deps

  /**
   * Removes files of a local video. Throws `not_found` without the video or the file. Throws `invalid` for a remote video, and if the
   * format has no files or nothing else plays. Throws `conflict` while a job works on the files.
   */
  async function removeFiles(videoId: number, asked: FilesAsked): Promise<void> {
    for (;;) {
      const removal = planOf(await stored(db.query, videoId), asked)
      const names = await writePlaylist(removal)
      const written = names ? refsOf(removal, names) : []
      try {
        if (await commit(videoId, asked, removal, names, written)) break
      } catch (error) {
        // After any other failure the rows may name the written files, whose notes are deleted then.
        if (error instanceof DomainError) await pendingFiles.discard(written)
        throw error
      }
      // A rendition was stored meanwhile, or the privacy changed: write the playlist again.
      await pendingFiles.discard(written)
    }
    await pendingFiles.collect()
  }

  /** Writes the playlist without the removed renditions. Undefined if no HLS rendition is removed. */
  async function writePlaylist(removal: Removal): Promise<PlaylistNames | undefined> {
    const { stored: video, gone, entries, isPrivate } = removal
    if (entries.length === 0 || !gone.some(({ hls }) => hls)) return undefined
    const names: PlaylistNames = {
      masterFilename: `${newUuid()}-master.m3u8`,
      hashesFilename: `${newUuid()}-segments-sha256.json`,
      storage: fileStorages.fileSystem,
    }
    await pendingFiles.reserve(leases.owner, refsOf(removal, names))
    await storeMaster({ store, entries, videoUuid: video.uuid, isPrivate, ...names })
    const storage = await storageOf(store, hlsFile(video.uuid, names.masterFilename, isPrivate))
    return { ...names, storage }
  }

  /** Returns false if the video has changed meanwhile. */
  function commit(
    videoId: number,
    asked: FilesAsked,
    before: Removal,
    names: PlaylistNames | undefined,
    written: FileRef[],
  ): Promise<boolean> {
    return tell({ aggregate: 'video', id: videoId }, async (unit) => {
      const video = await unit.em.findOneOrFail(Video, videoId)
      if (video.state === 'removed') throw notFound('Video not found')
      const removal = planOf(await stored(unit.query, videoId), asked)
      if (!isSame(removal, before)) return false
      await dropRows(unit, videoId, removal, names)
      await pendingFiles.settle(unit.query, written)
      await pendingFiles.condemn(unit.query, goneRefs(removal, names))
      if (names) queueTorrents(unit, videoId, config(), 'update-metadata')
      announceChange(unit, video)
      return true
    })
  }

  return { removeFiles }
}

async function stored(query: Sql, videoId: number): Promise<Stored> {
  const [video] = await query<Stored>(
    `select v.uuid, v.remote, v.privacy, v.blocked, p.playlist_filename as master, p.segments_sha256_filename as hashes,
       ${isBeingProcessed} as "isBeingProcessed",
       coalesce((select json_agg(json_build_object('id', f.id, 'hls', f.streaming_playlist_id is not null,
           'hasVideo', f.streams in (1, 3), 'hasAudio', f.streams in (2, 3), 'filename', f.filename,
           'playlist', f.playlist_filename, 'torrent', f.torrent_filename, 'entry', f.hls)
         order by f.resolution desc, f.id) from video_file f where f.video_id = v.id), '[]') as files
     from video v left join streaming_playlist p on p.video_id = v.id where v.id = $1 and v.state <> 'removed'`,
    [videoId],
  )
  if (!video) throw notFound('Video not found')
  return video
}

function planOf(video: Stored, asked: FilesAsked): Removal {
  if (video.remote) throw new DomainError('invalid', 'The files of this video are of another server.')
  const gone = filesToRemove(video.files, asked)
  if (video.isBeingProcessed) throw stillBeingProcessed()
  const left = video.files.filter((file) => file.hls && !gone.includes(file))
  const entries = left.flatMap(({ entry }) => (entry ? [entry] : []))
  const lastOfHls = left.length === 0 && gone.some(({ hls }) => hls)
  return { stored: video, gone, entries, lastOfHls, isPrivate: hasPrivateFiles(video) }
}

function isSame(one: Removal, other: Removal): boolean {
  const shapeOf = ({ stored: { master, files }, isPrivate }: Removal): string =>
    JSON.stringify([master, isPrivate, files.map(({ id, filename }) => [id, filename])])
  return shapeOf(one) === shapeOf(other)
}

/** One statement: the rows of the files, then the playlist. */
async function dropRows(unit: Unit, videoId: number, { gone, lastOfHls }: Removal, names: PlaylistNames | undefined): Promise<void> {
  await unit.query(
    `with gone as (delete from video_file where video_id = $1 and id = any($2)),
       emptied as (delete from streaming_playlist where video_id = $1 and $3)
     update streaming_playlist set playlist_filename = $4, segments_sha256_filename = $5, updated_at = $6,
       storage = coalesce($7, storage)
     where video_id = $1 and $4::text is not null`,
    [
      videoId,
      gone.map(({ id }) => id),
      lastOfHls,
      names?.masterFilename ?? null,
      names?.hashesFilename ?? null,
      unit.now,
      names?.storage ?? null,
    ],
  )
}

const refsOf = ({ stored: { uuid }, isPrivate }: Removal, { masterFilename, hashesFilename }: PlaylistNames): FileRef[] =>
  [masterFilename, hashesFilename].map((name) => hlsFile(uuid, name, isPrivate))

/** The removed files, in both the public and the private folder. */
function goneRefs({ stored: video, gone, lastOfHls }: Removal, names: PlaylistNames | undefined): FileRef[] {
  const { uuid, master, hashes } = video
  const playlists = names || lastOfHls ? [master, hashes] : []
  const hls = [...gone.flatMap((file) => (file.hls ? [file.filename, file.playlist] : [])), ...playlists]
  const webVideos = gone.flatMap((file) => (file.hls ? [] : [file.filename]))
  const isName = (name: string | null): name is string => name !== null
  return [
    ...[false, true].flatMap((isPrivate) => [
      ...hls.filter(isName).map((name) => hlsFile(uuid, name, isPrivate)),
      ...webVideos.filter(isName).map((name) => webVideoFile(name, isPrivate)),
    ]),
    ...gone.flatMap(({ torrent }): FileRef[] => (torrent === null ? [] : [{ kind: 'torrents', name: torrent }])),
  ]
}
