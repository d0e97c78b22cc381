// Uploads: opens, receives, cancels and expires resumable ones, and takes files that arrive in one request.

import { createHash } from 'node:crypto'
import type { Columns } from '../../platform/database/index.ts'
import { randomToken, toShortUuid } from '../../platform/ids.ts'
import { initialResumableUpload } from '../../state-machines/resumable-upload.ts'
import { advance, DomainError, initialColumns, type Unit } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import { type CreatedVideo, type GivenPictures, type NewVideoFields, type PictureName, workFolder } from '../video/index.ts'
import type { Video } from '../video/video.entity.ts'
import { refuseNoArchive, refuseUnsupported } from './accepted-files.ts'
import { makeFinishUpload } from './finish-upload.ts'
import { type ChunkRange, makeReceiveChunk } from './receive-chunk.ts'
import { Upload } from './upload.entity.ts'
import { filesOf, isLeased, isOpen, pictureFile, type UploadDeps, uploadLifecycle } from './upload-state.ts'

export interface NewUpload {
  userId: number
  fields: NewVideoFields
  /** The name on the uploader's machine. */
  fileName: string
  /** Tells files of the same name and size apart. An upload with one is the same with other fields, and takes them. */
  fileId?: string | undefined
  /** Bytes. */
  size: number
  /** Media type that the client declares. */
  type: string
  pictures: GivenPictures
}

/** A file that replaces the one that a video was made from. */
export interface Replacement extends Omit<NewUpload, 'fields' | 'pictures'> {
  videoId: number
  /** The user as a viewer. */
  by: NonNullable<Viewer>
}

export interface WholeUpload {
  userId: number
  fields: NewVideoFields
  fileName: string
  /** A local file that the caller gives up. */
  path: string
  pictures: GivenPictures
  signal?: AbortSignal
}

export interface Chunk {
  userId: number
  token: string
  /** The video to replace, from the URL of the request. */
  videoId?: number
  /** Null if the client's range cannot be parsed: the response reports the offset. */
  range: ChunkRange | null
  body: AsyncIterable<Uint8Array>
}

/** The result of a request to an upload. */
export type Receipt = { done: false; received: number } | { done: true; video: CreatedVideo }

const TOKEN_BYTES = 16

export type Uploads = ReturnType<typeof makeUploads>

export function makeUploads(deps: UploadDeps) {
  const { db, tell, registry, clock, config, store, createVideo, replaceSource, pendingFiles, leases, userImports } = deps
  const finish = makeFinishUpload(deps)
  const receiveChunk = makeReceiveChunk(deps)

  const silence = (): number => config().vireo.uploads.session_lifetime

  async function findOwn({ userId, token }: Pick<Chunk, 'userId' | 'token'>) {
    const [found] = await db.query<
      Columns<Upload, 'id' | 'userId' | 'state'> & { is_new: boolean; video: number | null; is_archive: boolean }
    >(
      `select id, user_id, state, fields is not null as is_new, replaces_id as video, user_import_id is not null as is_archive
       from upload where token = $1`,
      [token],
    )
    // An unknown id and another user's get the same response, so that ids cannot be probed.
    if (!found || found.user_id !== userId) throw notYours()
    return found
  }

  /** Deletes the row, or keeps it as the record of a cancelled upload, and queues the removal of the files. */
  async function end(unit: Unit, upload: Upload, by: 'CANCELLED' | 'TIMED_OUT'): Promise<void> {
    advance(unit, uploadLifecycle, upload, { type: by }, silence())
    upload.leaseOwner = null
    upload.leaseUntil = null
    await pendingFiles.condemn(unit.query, filesOf(upload))
    if (upload.userImportId) await userImports.notUploaded(unit, upload.userImportId)
    if (by === 'TIMED_OUT') unit.em.remove(upload)
  }

  async function expire(id: number): Promise<void> {
    await tell({ aggregate: 'upload', id }, async (unit) => {
      const upload = await unit.em.findOneOrFail(Upload, id)
      if (!upload.dueAt || upload.dueAt > unit.now) return
      // Its request extends the time by storing bytes; without that, it has its lease only.
      if (isLeased(upload, unit.now, leases)) upload.dueAt = upload.leaseUntil
      else await end(unit, upload, 'TIMED_OUT')
    })
    await pendingFiles.collect()
  }

  registry.timeout('upload', {
    of: uploadLifecycle,
    timedOut: expire,
  })

  registry.periodic('upload-traces', {
    everyMs: () => config().vireo.schedulers.remove_dangling_resumable_uploads,
    // Ended uploads are kept for a while, so that repeated requests get the right response.
    async run() {
      await db.query("delete from upload where state in ('finished', 'cancelled') and updated_at < $1", [
        new Date(clock.now().getTime() - silence()),
      ])
    },
  })

  registry.periodic('pending-files', {
    everyMs: () => COLLECT_EVERY,
    // Each process knows only the files that it gave up itself.
    everywhere: true,
    run: async () => void (await pendingFiles.collect()),
  })

  return {
    /** Throws `unsupported_media_type`, for an early refusal. */
    checkFile({ fileName }: { fileName: string }): void {
      refuseUnsupported({ filename: fileName }, config())
    },
    /** Bytes that the user may add; Infinity without quotas. */
    quotaLeft: createVideo.quotaLeft,
    fitPicture: createVideo.fitPicture,

    /** A folder for the files of one request. `end` removes it, or the sweeper if this process dies. */
    async beginForm(): Promise<{ folder: string; end(): Promise<void> }> {
      const work = workFolder('form', randomToken(TOKEN_BYTES))
      const end = (): Promise<void> => pendingFiles.discard([work])
      await pendingFiles.reserve(leases.owner, [work])
      try {
        return { folder: await store.workFolder(work.name), end }
      } catch (error) {
        await end()
        throw error
      }
    },

    /** Makes a video of a file that arrived in one request. Removes everything if it is refused. */
    async receiveWhole({ userId, fields, fileName, path, pictures, signal }: WholeUpload): Promise<CreatedVideo> {
      return await createVideo.createFrom({ userId, fields, inputFilename: fileName, path, pictures, signal })
    },

    /** Opens an upload, or returns the open one with the same metadata (or the same `fileId`), whose expiry stays the same. */
    async open(upload: NewUpload): Promise<{ token: string }> {
      const { userId, fields, fileName, fileId, size, type, pictures } = upload
      refuseUnsupported({ filename: fileName, type }, config())
      await createVideo.checkChannel(userId, fields.channelId)
      await createVideo.checkQuota(userId, size)
      const token = await begin({ userId, fileName, fileId, size, fields, replacesId: null })
      for (const name of pictureNames) {
        const image = pictures[name]
        if (image) await store.put(pictureFile(token, name), image.bytes)
      }
      return { token }
    },

    /** The same for a replacement. Throws like `ReplaceSource.check`. */
    async openReplacement({ userId, by, videoId, fileName, fileId, size, type }: Replacement): Promise<{ token: string }> {
      await replaceSource.check(videoId, by, size)
      refuseUnsupported({ filename: fileName, type }, config())
      return { token: await begin({ userId, fileName, fileId, size, fields: null, replacesId: videoId }) }
    },

    /**
     * Opens the upload of a user's archive, with an import that waits for it. Throws `invalid` unless name and type are those of a ZIP
     * file, `too_large` over the user's quota, and like `UserImports.assertPossible`. `isForm`: it arrives in one request that does not
     * declare the length of the file, so `size` is a bound, and `endArchive` ends it. It cannot be resumed, so it is never an already open
     * upload.
     */
    async openArchive({ userId, fileName, size, type, isForm = false }: Omit<NewUpload, 'fields' | 'pictures'> & { isForm?: boolean }) {
      await userImports.assertPossible(userId)
      refuseNoArchive({ fileName, type })
      await createVideo.checkQuota(userId, size)
      return { token: await begin({ userId, fileName, size, fields: null, replacesId: null, isForm }) }
    },

    /**
     * Like `receive`, for an archive; the last byte starts its import. Throws `conflict` while another import of the user is running, also
     * for status queries: the upload stays as it is, and any later request starts its import.
     */
    async receiveArchive(chunk: Omit<Chunk, 'videoId'>): Promise<{ done: false; received: number } | { done: true }> {
      const { userId, token, range, body } = chunk
      const { id, state, is_archive: isArchive } = await findOwn({ userId, token })
      if (!isArchive) throw notYours()
      const wantsStatus = range === null || range.kind === 'status'
      if (state === 'finished' && wantsStatus) return { done: true }
      if (!isOpen(state)) throw new DomainError('not_found', 'This upload has ended.')
      const after = await receiveChunk({ id, range, body })
      if (!after.complete) return { done: false, received: after.received }
      try {
        await finishArchive(id)
        return { done: true }
      } catch (error) {
        // A status query reports that the upload waits for another import.
        if (wantsStatus && error instanceof DomainError && error.kind === 'conflict') {
          return { done: false, received: after.received }
        }
        throw error
      }
    },

    /** The file of a form is complete, and its import starts. Throws `invalid` for an empty file, and like `receiveArchive`. */
    async endArchive(ask: Pick<Chunk, 'userId' | 'token'>): Promise<void> {
      const { id, is_archive: isArchive } = await findOwn(ask)
      if (!isArchive) throw notYours()
      await finishArchive(id, { isEnd: true })
    },

    /**
     * Appends a chunk and, with the last byte, makes the video. A chunk that does not begin at the stored offset changes nothing. Throws
     * `forbidden` for another user's upload, `not_found` for one that ended, `conflict` for another total size, and `busy` while another
     * request writes or finishes it.
     */
    async receive({ userId, token, videoId, range, body }: Chunk): Promise<Receipt> {
      const { id, state, is_new: isNew, video } = await findOwn({ userId, token })
      if (videoId === undefined ? !isNew : isNew || video !== videoId) throw notYours()
      const wantsStatus = range === null || range.kind === 'status'
      if (state === 'finished' && wantsStatus) return { done: true, video: await videoOf(id) }
      if (!isOpen(state)) throw new DomainError('not_found', 'This upload has ended.')
      const after = await receiveChunk({ id, range, body })
      return after.complete ? { done: true, video: await finish(id) } : { done: false, received: after.received }
    },

    /** Ends an upload and removes its bytes. Idempotent. */
    async cancel(ask: Pick<Chunk, 'userId' | 'token'>): Promise<void> {
      const { id } = await findOwn(ask)
      await tell({ aggregate: 'upload', id }, async (unit) => {
        const upload = await unit.em.findOneOrFail(Upload, id)
        if (isOpen(upload.state)) await end(unit, upload, 'CANCELLED')
      })
      await pendingFiles.collect()
    },
  }

  /** The bytes stay in place and belong to the import from now on. */
  async function finishArchive(id: number, { isEnd = false } = {}): Promise<void> {
    await tell({ aggregate: 'upload', id }, async (unit) => {
      const upload = await unit.em.findOneOrFail(Upload, id)
      // Another request may have received the last byte, too.
      if (upload.state === 'finished') return
      if (isEnd && upload.received === 0) throw new DomainError('invalid', 'This file is empty.')
      if (isEnd && upload.state === 'receiving') advance(unit, uploadLifecycle, upload, { type: 'ENDED' }, silence())
      advance(unit, uploadLifecycle, upload, { type: 'FINISHED' }, silence())
      if (upload.userImportId) await userImports.uploaded(unit, upload.userImportId, upload)
    })
  }

  /** Opens the upload, or returns the open one for the same file. */
  async function begin(upload: Beginning): Promise<string> {
    const { fileName, fileId, size, fields, replacesId, isForm } = upload
    const archive = isForm ? randomToken(TOKEN_BYTES) : 'archive'
    const kind = fields ?? (replacesId === null ? archive : { replacesId })
    const same = fileId ? [fileName, size, replacesId, fileId] : [fileName, size, kind]
    const fingerprint = createHash('sha256').update(JSON.stringify(same)).digest('hex')
    return await tell.create(async (unit) => {
      await refuseTooMuch(unit, upload, fingerprint)
      return await insert(unit, upload, fingerprint)
    })
  }

  async function refuseTooMuch(unit: Unit, { userId, size }: Beginning, fingerprint: string): Promise<void> {
    await unit.query("select pg_advisory_xact_lock(hashtext('uploads'), $1)", [userId])
    const [open] = await unit.query<{ bytes: number }>(
      `select coalesce(sum(size), 0)::bigint as bytes from upload
       where user_id = $1 and fingerprint <> $2 and state in ('created', 'receiving', 'assembled')`,
      [userId, fingerprint],
    )
    const limit = config().vireo.uploads.max_partial_per_user
    if ((open?.bytes ?? 0) + size <= limit) return
    throw new DomainError('too_large', 'These are too many bytes of unfinished uploads.', {
      code: 'max_file_size_reached',
      headers: { 'x-file-maximum-size': String(limit) },
    })
  }

  async function insert(unit: Unit, upload: Beginning, fingerprint: string): Promise<string> {
    const { userId, fields, replacesId, fileName, size } = upload
    const initial = initialResumableUpload(size)
    const { state, context, dueAt } = initialColumns({ ...uploadLifecycle, initial }, unit.now, silence())
    const [row] = await unit.query<Columns<Upload, 'id' | 'token'> & { importId: number | null }>(
      `insert into upload (token, user_id, state, context, due_at, file_name, size, fields, fingerprint, created_at,
         updated_at, replaces_id)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11)
       on conflict (user_id, fingerprint) where state in ('created', 'receiving', 'assembled')
       do update set updated_at = excluded.updated_at, fields = excluded.fields
       returning id, token, user_import_id as "importId"`,
      [
        randomToken(TOKEN_BYTES),
        userId,
        state,
        JSON.stringify(context),
        dueAt,
        fileName,
        size,
        fields && JSON.stringify(fields),
        fingerprint,
        unit.now,
        replacesId,
      ],
    )
    if (!row) throw new Error('The upload could not be stored.')
    if (isArchive(upload) && row.importId === null) {
      const importId = await userImports.begin(unit, { userId, size })
      await unit.query('update upload set user_import_id = $2 where id = $1', [row.id, importId])
    }
    return row.token
  }

  async function videoOf(id: number): Promise<CreatedVideo> {
    const [video] = await db.query<Columns<Video, 'id' | 'uuid'>>(
      'select v.id, v.uuid from upload u join video v on v.id = u.video_id where u.id = $1',
      [id],
    )
    if (!video) throw new DomainError('not_found', 'The video of this upload does not exist any more.')
    return { ...video, shortUUID: toShortUuid(video.uuid) }
  }
}

const notYours = (): DomainError => new DomainError('forbidden', 'This upload is not one of yours.')

interface Beginning {
  userId: number
  fileName: string
  fileId?: string | undefined
  size: number
  /** Null for a replacement of `replacesId`'s file, and for an archive. */
  fields: NewVideoFields | null
  replacesId: number | null
  isForm?: boolean
}

const isArchive = ({ fields, replacesId }: Beginning): boolean => fields === null && replacesId === null

const pictureNames: PictureName[] = ['thumbnail', 'preview']

/** How often abandoned files are looked for, in ms. */
const COLLECT_EVERY = 10_000
