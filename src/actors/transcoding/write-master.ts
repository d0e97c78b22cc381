// Updates the master playlist and the segment hashes from the rows.

import { text } from 'node:stream/consumers'
import {
  type FileRef,
  type HlsEntry,
  hlsFile,
  MediaError,
  newPlaylistNames,
  type PlaylistNames,
  playlistsOfMaster,
  type Store,
  storeMaster,
} from '../../media/index.ts'
import { newUuid } from '../../platform/ids.ts'
import { DomainError, type Unit } from '../runtime/index.ts'
import { renamePlaylist } from '../video/files.writes.ts'
import { hasPrivateFiles, type Openness, storageOf, transcodingOwner } from '../video/index.ts'
import type { TranscodingDeps } from './transcoding-state.ts'

export interface WrittenMaster {
  /** True if the video was private when it was read. */
  isPrivate: boolean
  /**
   * Runs in the transaction that locks the video and makes the playlist its own. Returns false if the playlist was replaced or removed
   * meanwhile; then it must be written again.
   */
  settle(unit: Unit): Promise<boolean>
}

/** A transcoding that a worker has leased. */
export interface MasterTask {
  id: number
  videoId: number
  outputs: string | null
  /** Last text that the worker wrote, so that it is not written twice. */
  written?: string
}

interface Row extends Openness {
  uuid: string
  master: string | null
  hashes: string | null
  entries: HlsEntry[]
}

/**
 * Writes the playlist from the rows, where the video's privacy demands. While renditions are only added it keeps its name, so that its
 * address on other servers stays valid. When renditions are replaced it gets a new one, so that no cache returns a playlist that names
 * removed files.
 */
export async function writeMaster({ db, store, pendingFiles }: TranscodingDeps, task: MasterTask): Promise<WrittenMaster> {
  const { videoId } = task
  const [video] = await db.query<Row>(
    `select v.uuid, v.privacy, v.blocked, p.playlist_filename as master, p.segments_sha256_filename as hashes,
       coalesce((select json_agg(f.hls order by f.resolution desc) from video_file f
                 where f.streaming_playlist_id = p.id and f.hls is not null), '[]') as entries
     from video v left join streaming_playlist p on p.video_id = v.id where v.id = $1`,
    [videoId],
  )
  if (!video) throw new DomainError('not_found', 'This video does not exist.')
  const { uuid, master, hashes, entries } = video
  const isPrivate = hasPrivateFiles(video)
  if (master === null || hashes === null || entries.length === 0) return { isPrivate, settle: async () => true }

  // In both folders: the privacy may change at any moment, and the files follow.
  const refsOf = ({ masterFilename, hashesFilename }: PlaylistNames): FileRef[] =>
    [masterFilename, hashesFilename].flatMap((name) => [hlsFile(uuid, name, false), hlsFile(uuid, name, true)])
  const old: PlaylistNames = { masterFilename: master, hashesFilename: hashes }
  const textFor = (name: string): string => JSON.stringify([name, isPrivate, entries.map(({ playlistFilename }) => playlistFilename)])
  const isWritten = task.written === textFor(master)
  const isReplaced = !isWritten && task.outputs !== null && (await namesOthers(store, hlsFile(uuid, master, isPrivate), entries))
  const names: PlaylistNames = isReplaced ? newPlaylistNames(newUuid) : old
  if (isReplaced) await pendingFiles.reserve(transcodingOwner(task.id), refsOf(names))
  if (!isWritten) await storeMaster({ store, entries, videoUuid: uuid, isPrivate, ...names })

  const storage = await storageOf(store, hlsFile(uuid, names.masterFilename, isPrivate))

  return {
    isPrivate,
    async settle(unit) {
      const isSettled = await renamePlaylist(unit, videoId, { master, names, storage })
      const reader = transcodingOwner(task.id)
      if (!isSettled) await pendingFiles.condemn(unit.query, refsOf(names), reader)
      else if (isReplaced) {
        await pendingFiles.settle(unit.query, refsOf(names))
        await pendingFiles.condemn(unit.query, refsOf(old), reader)
      }
      if (isSettled) task.written = textFor(names.masterFilename)
      return isSettled
    },
  }
}

/** True if the stored master names a removed playlist, including those that a dead worker replaced. */
async function namesOthers(store: Store, master: FileRef, entries: readonly HlsEntry[]): Promise<boolean> {
  const names = new Set(entries.map(({ playlistFilename }) => playlistFilename))
  try {
    const { stream } = await store.open(master)
    return playlistsOfMaster(await text(stream)).some((name) => !names.has(name))
  } catch (error) {
    if (error instanceof MediaError && error.reason === 'not-found') return false
    throw error
  }
}
