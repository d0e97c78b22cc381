// Imports of videos: requested, cancelled, retried and removed by their users.

import { readTorrent } from '../../media/index.ts'
import { type ActorDeps, DomainError, initialColumns, notFound, takes, type Unit } from '../runtime/index.ts'
import { hasRight, type UserRole } from '../user/index.ts'
import {
  type AwaitedVideos,
  type CreateVideo,
  type GivenPictures,
  namedAs,
  type PendingFiles,
  publishDefaults,
  videoLifecycle,
} from '../video/index.ts'
import { beginningOf, type ImportFields, type ImportTarget, plainFields } from './import-fields.ts'
import { type Locked, move, queueImport, settingsOf, videoImportLifecycle, withImport } from './video-import-state.ts'

interface Wanted {
  userId: number
  channelId: number
  /** The requesting synchronisation. */
  channelSyncId?: number | undefined
  /** Omitted fields are taken from the source. */
  fields?: Partial<ImportFields> | undefined
  pictures?: GivenPictures
}

export type ImportRequest = Wanted & ({ targetUrl: string } | { magnetUri: string } | { torrent: { fileName: string; bytes: Buffer } })

/** The requester of an operation on an import. */
export interface ImportUser {
  userId: number
  role: UserRole
}

export interface VideoImportDeps extends ActorDeps {
  awaitedVideos: AwaitedVideos
  createVideo: CreateVideo
  pendingFiles: PendingFiles
  /** True if a host name, or an address, is public. */
  mayImportFrom: (hostname: string) => Promise<boolean>
}

export type VideoImports = ReturnType<typeof makeVideoImports>

export function makeVideoImports(deps: VideoImportDeps) {
  const { db, tell, registry, config, awaitedVideos, createVideo, pendingFiles, mayImportFrom } = deps

  registry.timeout('video-import', {
    of: videoImportLifecycle,
    timedOut: (id) =>
      withImport(deps, id, async (locked) => {
        const { videoImport, video, unit } = locked
        if (!videoImport.dueAt || videoImport.dueAt > unit.now) return
        const settings = settingsOf(deps)
        const isReleased = !videoImport.leaseOwner
        await move(locked, video ? { type: 'TIMED_OUT', settings, isReleased } : { type: 'CANCELLED' }, settings)
      }),
  })

  // Ensures that a video that waits for its import has one.
  registry.timeout('video-to-import', {
    of: videoLifecycle,
    in: ['to-import'],
    timedOut: (id) => awaitedVideos.check(id),
  })

  // The sources of a removed user's imports are private data.
  registry.on('UserRemoved', 'video-imports', async ({ userId }, unit) => {
    await unit.query('delete from video_import where user_id = $1', [userId])
  })

  /** Throws `conflict` for a disabled way of importing, and `forbidden` for a refused address. */
  async function assertPossible({ targetUrl }: ImportTarget): Promise<void> {
    const { http, torrent } = config().import.videos
    if (targetUrl === null) {
      if (!torrent.enabled) throw new DomainError('conflict', 'Imports by torrent are not enabled on this server.')
      return
    }
    if (!http.enabled) throw new DomainError('conflict', 'Imports by URL are not enabled on this server.')
    const hostname = URL.parse(targetUrl)?.hostname ?? ''
    if (!(await mayImportFrom(hostname))) {
      throw new DomainError('forbidden', 'Videos are imported from public addresses only.')
    }
  }

  function refuseOthers({ userId }: { userId: number }, by: ImportUser): void {
    if (userId === by.userId || hasRight(by.role, 'MANAGE_VIDEO_IMPORTS')) return
    throw new DomainError('forbidden', 'Cannot manage a video import of another user.')
  }

  async function asUser<T>(id: number, by: ImportUser, work: (locked: Locked) => Promise<T>): Promise<T> {
    return await withImport(deps, id, async (locked) => {
      refuseOthers(locked.videoImport, by)
      return await work(locked)
    })
  }

  /** The source of an import that may be retried, which never changes. */
  async function targetToRetry(id: number, by: ImportUser): Promise<ImportTarget> {
    const [known] = await db.query<Omit<Target, 'torrentTitle'> & { userId: number; state: string }>(
      `select user_id as "userId", state, target_url as "targetUrl", magnet_uri as "magnetUri", torrent_name as "torrentName",
         torrent
       from video_import where id = $1`,
      [id],
    )
    if (!known) throw notFound('Video import not found')
    refuseOthers(known, by)
    if (known.state !== 'failed') throw notFailed()
    return { ...known, torrentTitle: await titleOf(known) }
  }

  async function insert(unit: Unit, wanted: Wanted & { fields: ImportFields }, target: Target): Promise<number> {
    const { userId, channelId, channelSyncId = null, fields } = wanted
    const { state, context, dueAt } = initialColumns(videoImportLifecycle, unit.now, settingsOf(deps))
    const [row] = await unit.query<{ id: number }>(
      `insert into video_import (user_id, channel_id, channel_sync_id, target_url, magnet_uri, torrent_name, torrent, fields,
         state, context, due_at, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12) returning id`,
      [
        userId,
        channelId,
        channelSyncId,
        target.targetUrl,
        target.magnetUri,
        target.torrentName,
        target.torrent,
        JSON.stringify(fields),
        state,
        JSON.stringify(context),
        dueAt,
        unit.now,
      ],
    )
    if (!row) throw new Error('The import could not be stored.')
    return row.id
  }

  return {
    /**
     * Begins an import. Throws `conflict` if this way of importing is disabled, `forbidden` for an address that is not public, `invalid`
     * for another user's channel, and for a torrent that is unreadable or does not have exactly one file (`incorrect_files_in_torrent`).
     */
    async request(wanted: ImportRequest): Promise<{ importId: number; videoId: number }> {
      const { userId, channelId } = wanted
      const target = await targetOf(wanted)
      await createVideo.checkChannel(userId, channelId)
      await assertPossible(target)
      const fields: ImportFields = { ...plainFields(channelId, publishDefaults(config())), ...wanted.fields, channelId }
      const pictures = await awaitedVideos.placePictures(wanted.pictures ?? {})
      try {
        return await tell.create(async (unit) => {
          const { id: videoId } = await awaitedVideos.create(unit, {
            userId,
            source: 'import',
            pictures: pictures.map(namedAs),
            fields: beginningOf(fields, target),
          })
          const importId = await insert(unit, { ...wanted, fields }, target)
          await unit.query('update video_import set video_id = $2 where id = $1', [importId, videoId])
          unit.created({ aggregate: 'video_import', id: importId })
          unit.created({ aggregate: 'video', id: videoId })
          queueImport(unit, importId)
          return { importId, videoId }
        })
      } catch (error) {
        await awaitedVideos.discardPictures(pictures)
        throw error
      }
    },

    /** Throws `not_found`, `forbidden` for another user's import, `conflict` unless it is pending. */
    async cancel(importId: number, by: ImportUser): Promise<void> {
      await asUser(importId, by, async (locked) => {
        if (locked.videoImport.state !== 'pending') {
          throw new DomainError('conflict', 'Only an import that is pending can be cancelled.')
        }
        await move(locked, { type: 'CANCELLED' }, settingsOf(deps))
      })
      await pendingFiles.collect()
    },

    /** Retries a failed one. Throws `not_found`, `forbidden`, and `conflict` for any other. */
    async retry(importId: number, by: ImportUser): Promise<void> {
      const target = await targetToRetry(importId, by)
      await assertPossible(target)
      await asUser(importId, by, async (locked) => {
        const { unit, videoImport } = locked
        if (!takes(videoImportLifecycle, videoImport, { type: 'RETRIED' })) throw notFailed()
        const { userId, fields } = videoImport
        const { pictures, ...asked } = fields
        const { id } = await awaitedVideos.create(unit, { userId, source: 'import', fields: beginningOf(asked, target), pictures })
        videoImport.fields = asked
        videoImport.videoId = id
        await move(locked, { type: 'RETRIED' }, settingsOf(deps))
      })
    },

    /**
     * Deletes an import; a running one is ended, and its video removed. Throws `not_found`, `forbidden`, and `conflict` while it is
     * pending.
     */
    async remove(importId: number, by: ImportUser): Promise<void> {
      await asUser(importId, by, async (locked) => {
        const { unit, videoImport } = locked
        if (videoImport.state === 'pending') {
          throw new DomainError('conflict', 'An import that is pending has to be cancelled first.')
        }
        if (takes(videoImportLifecycle, videoImport, { type: 'CANCELLED' })) await move(locked, { type: 'CANCELLED' }, settingsOf(deps))
        unit.em.remove(videoImport)
      })
      await pendingFiles.collect()
    },
  }
}

type Target = ImportTarget & { torrent: Buffer | null }

const notFailed = (): DomainError => new DomainError('conflict', 'Only an import that failed can be tried again.')

/** The title in the torrent file of an import. */
export async function titleOf({ torrent }: { torrent: Buffer | null }): Promise<string | null> {
  return (torrent && (await readTorrent(torrent))?.name) ?? null
}

async function targetOf(wanted: ImportRequest): Promise<Target> {
  const nothing: Target = { targetUrl: null, magnetUri: null, torrentName: null, torrentTitle: null, torrent: null }
  if ('targetUrl' in wanted) return { ...nothing, targetUrl: wanted.targetUrl }
  if ('magnetUri' in wanted) {
    if (!(await readTorrent(wanted.magnetUri))) throw new DomainError('invalid', 'This magnet URI cannot be read.')
    return { ...nothing, magnetUri: wanted.magnetUri }
  }
  const { fileName, bytes } = wanted.torrent
  const summary = await readTorrent(bytes)
  if (!summary || summary.files === null) throw new DomainError('invalid', 'This torrent file cannot be read.')
  if (summary.files !== 1) {
    throw new DomainError('invalid', 'The torrent has to have exactly one file.', {
      code: 'incorrect_files_in_torrent',
    })
  }
  return { ...nothing, torrentName: fileName.slice(0, 255), torrentTitle: summary.name, torrent: bytes }
}
