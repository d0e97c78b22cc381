// Stores finished renditions and their rows, and updates the master playlist.

import { basename } from 'node:path'
import {
  type FileRef,
  type HlsEntry,
  hlsFile,
  type LadderFile,
  type MediaProbe,
  newPlaylistNames,
  type PlaylistNames,
  storeLadderFiles,
  storeMaster,
  webVideoFile,
} from '../../media/index.ts'
import { newUuid } from '../../platform/ids.ts'
import { advance, contextOf, DomainError, LeaseLost, type Unit } from '../runtime/index.ts'
import { dropReplacedFiles, storePlaylist, storeRendition } from '../video/files.writes.ts'
import {
  dropOutdated,
  type FileStorage,
  hasPrivateFiles,
  type Openness,
  setDimensionsAsMade,
  storageOf,
  transcodingOwner,
} from '../video/index.ts'
import { isActive, transcodingLifecycle } from './transcoding.entity.ts'
import { type Locked, settingsOf, type TranscodingDeps, withTranscoding } from './transcoding-state.ts'

/** Stores the files of a step, made from `source`, with their rows. Idempotent for the same names. */
export type StoreRenditions = (task: RenditionsTask, files: readonly LadderFile[]) => Promise<void>

interface RenditionsTask {
  id: number
  owner: string
  videoId: number
  uuid: string
  source: MediaProbe
  /** Names for the playlist if the video has none; by default new ones. */
  playlist?: PlaylistNames | undefined
  /** For a job of a remote runner, which counts once: completes it in the same transaction. */
  done?: ((unit: Unit) => Promise<void>) | undefined
}

export function makeStoreRenditions(deps: TranscodingDeps): StoreRenditions {
  const { db, store, pendingFiles } = deps

  return async (task, files) => {
    const first = await firstPlaylist(task, files)
    // A change of the privacy may move the files to the other folder at any moment: note them in both.
    const noted = [...refsOf(files, first, task.uuid, false), ...refsOf(files, first, task.uuid, true)]
    await pendingFiles.reserve(transcodingOwner(task.id), noted)
    try {
      await storeNoted(task, files, first, noted)
    } catch (error) {
      // The transcoding may have ended meanwhile, and deleted the notes: note what exists now once more.
      await pendingFiles.reserve(transcodingOwner(task.id), noted)
      throw error
    }
  }

  async function storeNoted(
    { id, owner, videoId, uuid, source, done }: RenditionsTask,
    files: readonly LadderFile[],
    first: PlaylistNames | undefined,
    noted: readonly FileRef[],
  ): Promise<void> {
    let isPrivate = hasPrivateFiles(await opennessOf(videoId))
    const refs = (hidden: boolean): FileRef[] => refsOf(files, first, uuid, hidden)
    await fetchFromOtherFolder(refs(!isPrivate), refs(isPrivate))
    await storeLadderFiles({ store, files, videoUuid: uuid, isPrivate })
    if (first) await storeMaster({ store, entries: entriesOf(files), videoUuid: uuid, isPrivate, ...first })
    for (;;) {
      const placed = isPrivate
      const storages = new Map<string, FileStorage>()
      for (const ref of refs(placed)) storages.set(basename(ref.name), await storageOf(store, ref))
      const wanted = await withOwned(deps, id, owner, async ({ unit, video, transcoding }) => {
        const isHidden = hasPrivateFiles(video)
        if (isHidden !== placed) return isHidden
        await pendingFiles.condemn(unit.query, await dropOutdated(unit, video))
        setDimensionsAsMade(video, source, files)
        await insertRows(unit, { id, videoId, files, first, storages })
        for (const _step of done ? [id] : new Set(files.map(({ resolution }) => resolution))) {
          advance(unit, transcodingLifecycle, transcoding, { type: 'RENDITION_MADE' }, settingsOf(deps))
        }
        const { made, total } = contextOf(transcodingLifecycle, transcoding)
        if (made === total) advance(unit, transcodingLifecycle, transcoding, { type: 'PACKAGED' }, settingsOf(deps))
        await pendingFiles.settle(unit.query, noted)
        await done?.(unit)
        return placed
      })
      if (wanted === placed) return
      // The privacy changed meanwhile: move the files before the rows name them.
      await moveFiles(refs(placed), refs(wanted))
      isPrivate = wanted
    }
  }

  /**
   * Names for the playlist of a video that has none, or only an outdated one. The named files exist before the rows: viewers may be
   * watching a video whose source was replaced.
   */
  async function firstPlaylist(
    { videoId, playlist }: Pick<RenditionsTask, 'videoId' | 'playlist'>,
    files: readonly LadderFile[],
  ): Promise<PlaylistNames | undefined> {
    if (!files.some(({ hls }) => hls)) return undefined
    const lasting = await db.query(
      `select 1 from streaming_playlist p where p.video_id = $1
         and not exists (select 1 from video_file f where f.streaming_playlist_id = p.id and f.outdated)`,
      [videoId],
    )
    return lasting.length > 0 ? undefined : (playlist ?? newPlaylistNames(newUuid))
  }

  async function opennessOf(videoId: number): Promise<Openness> {
    const [video] = await db.query<Openness>('select privacy, blocked from video where id = $1', [videoId])
    if (!video) throw new DomainError('not_found', 'This video does not exist.')
    return video
  }

  async function moveFiles(from: readonly FileRef[], to: readonly FileRef[]): Promise<void> {
    for (const [index, ref] of from.entries()) {
      const target = to[index]
      if (target) await store.move(ref, target.name)
    }
  }

  /** Moves what an earlier attempt stored in the folder of the earlier privacy: the same name means the same file. */
  async function fetchFromOtherFolder(from: readonly FileRef[], to: readonly FileRef[]): Promise<void> {
    for (const [index, ref] of from.entries()) {
      if (await store.stat(ref)) await moveFiles([ref], to.slice(index, index + 1))
    }
  }

  async function insertRows(
    unit: Unit,
    {
      id,
      videoId,
      files,
      first,
      storages,
    }: {
      id: number
      videoId: number
      files: readonly LadderFile[]
      first: PlaylistNames | undefined
      storages: ReadonlyMap<string, FileStorage>
    },
  ): Promise<void> {
    const names = first ?? newPlaylistNames(newUuid)
    const playlistId = files.some(({ hls }) => hls)
      ? await storePlaylist(unit, videoId, names, storages.get(names.masterFilename) ?? 0)
      : null
    for (const file of files) {
      await condemnEarlier(unit, id, videoId, file)
      await storeRendition(unit, videoId, file, { playlistId, storage: storages.get(file.filename) ?? 0 })
    }
  }

  /**
   * Replaces the earlier rendition, and those whose sound is stored the other way. Their bytes stay until the transcoding is done: it and
   * players may be reading them.
   */
  async function condemnEarlier(unit: Unit, id: number, videoId: number, file: LadderFile): Promise<void> {
    const gone = await dropReplacedFiles(unit, videoId, file)
    const refs = gone.flatMap(({ filename, playlist, torrent, uuid }) => [
      ...[false, true].flatMap((isPrivate) => namesAt(filename, playlist, uuid, isPrivate)),
      ...(torrent === null ? [] : [{ kind: 'torrents', name: torrent } as const]),
    ])
    await pendingFiles.condemn(unit.query, refs, transcodingOwner(id))
  }
}

const entriesOf = (files: readonly LadderFile[]): HlsEntry[] =>
  [...files].sort((one, other) => other.resolution - one.resolution).flatMap(({ hls }) => (hls ? [hls.entry] : []))

const refsOf = (files: readonly LadderFile[], playlist: PlaylistNames | undefined, uuid: string, isPrivate: boolean): FileRef[] => [
  ...files.flatMap(({ filename, hls }) => namesAt(filename, hls?.entry.playlistFilename ?? null, uuid, isPrivate)),
  ...(playlist ? [playlist.hashesFilename, playlist.masterFilename] : []).map((name) => hlsFile(uuid, name, isPrivate)),
]

const namesAt = (filename: string, playlist: string | null, uuid: string, isPrivate: boolean): FileRef[] =>
  playlist === null ? [webVideoFile(filename, isPrivate)] : [hlsFile(uuid, filename, isPrivate), hlsFile(uuid, playlist, isPrivate)]

/** Runs `work` if this worker still holds the lease. Throws `LeaseLost` if it does not, and `not_found` if the transcoding is removed. */
export function withOwned<T>(deps: TranscodingDeps, id: number, owner: string, work: (locked: Locked) => Promise<T>): Promise<T> {
  return withTranscoding(deps, id, async (locked) => {
    const { leaseOwner, state } = locked.transcoding
    if (leaseOwner !== owner || !isActive(state)) throw new LeaseLost('Another worker has this transcoding.')
    return await work(locked)
  })
}
