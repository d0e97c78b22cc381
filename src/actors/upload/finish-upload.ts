// Turns a complete upload into a video, or replaces the file of one. It can be killed at any point; the next request continues: the
// destination is stored before the file is moved, and the video's rows are stored in the transaction that ends the upload.

import { isDeepStrictEqual } from 'node:util'
import { randomToken, toShortUuid } from '../../platform/ids.ts'
import { advance, DomainError, type ErrorKind, notFound, type Unit } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import type { UserRole } from '../user/index.ts'
import type { CreatedVideo, FileDraft, GivenPictures, NewVideoFields, PictureName } from '../video/index.ts'
import { busy } from './receive-chunk.ts'
import { Upload } from './upload.entity.ts'
import { filesOf, isLeased, isOpen, pictureFile, type UploadDeps, uploadFile, uploadLifecycle } from './upload-state.ts'

/** Lease of a request that finishes an upload, renewed while it works, in ms. */
const LEASE = 15_000

/** Refusals that a retry cannot change: they end the upload. */
const FINAL: readonly ErrorKind[] = ['invalid', 'forbidden', 'too_large', 'unsupported_media_type', 'unprocessable']

export type FinishUpload = (id: number) => Promise<CreatedVideo>

export function makeFinishUpload(deps: UploadDeps): FinishUpload {
  const { db, tell, clock, config, logger, store, createVideo, replaceSource, pendingFiles, leases } = deps
  const silence = (): number => config().vireo.uploads.session_lifetime

  /** Runs one step as the upload's owner. Throws `busy` or `not_found` if the lease is lost. */
  const asOwner = <T>(id: number, owner: string, work: (unit: Unit, upload: Upload) => Promise<T>): Promise<T> =>
    tell({ aggregate: 'upload', id }, async (unit) => await work(unit, await ownUpload(unit, id, owner)))

  async function ownUpload(unit: Unit, id: number, owner: string): Promise<Upload> {
    const upload = await unit.em.findOneOrFail(Upload, id)
    if (!isOpen(upload.state)) throw new DomainError('not_found', 'This upload has ended.')
    if (upload.leaseOwner !== owner) throw busyFinishing()
    return upload
  }

  const busyFinishing = (): DomainError => busy(config().vireo.uploads.busy_retry_after)

  const hold = (id: number, owner: string): Promise<Upload> =>
    tell({ aggregate: 'upload', id }, async (unit) => {
      const upload = await unit.em.findOneOrFail(Upload, id)
      if (upload.state !== 'assembled') throw new DomainError('not_found', 'This upload has ended.')
      if (isLeased(upload, unit.now, leases)) throw busyFinishing()
      upload.leaseOwner = owner
      upload.leaseUntil = new Date(unit.now.getTime() + LEASE)
      return upload
    })

  async function renew(id: number, owner: string): Promise<void> {
    await db
      .query('update upload set lease_until = $3 where id = $1 and lease_owner = $2', [id, owner, new Date(clock.now().getTime() + LEASE)])
      .catch((error) => logger.warn({ err: error, upload: id }, 'the lease of an upload could not be renewed'))
  }

  /** Keeps the destination of an earlier attempt, which may have moved the file already. */
  async function withFile<T>(upload: Upload, work: (path: string) => Promise<T>): Promise<T> {
    const isMoved = upload.place ? (await store.stat(upload.place)) !== undefined : false
    const source = isMoved && upload.place ? upload.place : uploadFile(upload.token)
    return await store.withLocalPath(source, work)
  }

  async function makeVideo(upload: Upload, fields: NewVideoFields, owner: string): Promise<CreatedVideo> {
    const { id, userId, fileName } = upload
    return await withFile(upload, async (path) => {
      const pictures = await picturesOf(upload)
      const place = upload.place ?? undefined
      const draft = await createVideo.inspect({ userId, fields, inputFilename: fileName, path, pictures, place })
      return await storeDraft({ id, owner, draft, path }, () =>
        asOwner(id, owner, async (unit, row) => {
          // Opened again with other details meanwhile: the next request finishes it with those.
          if (!isDeepStrictEqual(row.fields, fields)) throw busyFinishing()
          const video = await createVideo.insert(unit, draft)
          await endUpload(unit, row, video.id)
          return video
        }),
      )
    })
  }

  async function replaceFile(upload: Upload, owner: string): Promise<CreatedVideo> {
    const { id, userId, fileName, replacesId: videoId } = upload
    if (!videoId) throw notFound('Video not found')
    return await withFile(upload, async (path) => {
      const place = upload.place ?? undefined
      const draft = await replaceSource.inspect({ videoId, inputFilename: fileName, path, place })
      const by = await uploaderOf(userId)
      return await storeDraft({ id, owner, draft, path }, () =>
        // Locks the video first, in the same order as its removal.
        tell({ aggregate: 'video', id: videoId }, async (unit) => {
          await unit.query('select id from upload where id = $1 for no key update', [id])
          const row = await ownUpload(unit, id, owner)
          await replaceSource.replace(unit, { videoId, by, draft })
          await endUpload(unit, row, videoId)
          const [video] = await unit.query<{ uuid: string }>('select uuid from video where id = $1', [videoId])
          if (!video) throw notFound('Video not found')
          return { id: videoId, uuid: video.uuid, shortUUID: toShortUuid(video.uuid) }
        }),
      )
    })
  }

  async function uploaderOf(userId: number): Promise<NonNullable<Viewer>> {
    const [user] = await db.query<{ accountId: number; role: UserRole }>(
      'select a.id as "accountId", u.role from users u join account a on a.user_id = u.id where u.id = $1 and not u.blocked',
      [userId],
    )
    if (!user) throw new DomainError('forbidden', 'This user may not upload.')
    return user
  }

  /** Places the file, which is noted before, and stores it. Removes it if storing fails. */
  async function storeDraft(
    { id, owner, draft, path }: { id: number; owner: string; draft: FileDraft; path: string },
    storeRows: () => Promise<CreatedVideo>,
  ): Promise<CreatedVideo> {
    await asOwner(id, owner, async (_unit, row) => {
      row.place = draft.place
    })
    try {
      await createVideo.place(draft, path)
      return await storeRows()
    } catch (error) {
      if (!(await isFinished(id))) await createVideo.discard(draft, { source: false })
      throw error
    }
  }

  async function endUpload(unit: Unit, upload: Upload, videoId: number): Promise<void> {
    advance(unit, uploadLifecycle, upload, { type: 'FINISHED' }, silence())
    upload.videoId = videoId
    upload.leaseOwner = null
    upload.leaseUntil = null
    // The file belongs to the video now; the other files of the upload are removed.
    await pendingFiles.condemn(unit.query, filesOf({ token: upload.token, place: null }))
  }

  const isFinished = async (id: number): Promise<boolean> =>
    (await db.query("select id from upload where id = $1 and state = 'finished'", [id])).length > 0

  async function picturesOf({ token }: Upload): Promise<GivenPictures> {
    const given: GivenPictures = {}
    const names: PictureName[] = ['thumbnail', 'preview']
    for (const name of names) {
      const ref = pictureFile(token, name)
      if ((await store.stat(ref)) === undefined) continue
      given[name] = await store.withLocalPath(ref, (path) => createVideo.fitPicture(name, path))
    }
    return given
  }

  /** The file cannot become a video: removes the row and the bytes. */
  async function refuse(id: number, owner: string): Promise<void> {
    await asOwner(id, owner, async (unit, upload) => {
      advance(unit, uploadLifecycle, upload, { type: 'REFUSED' }, silence())
      await pendingFiles.condemn(unit.query, filesOf(upload))
      unit.em.remove(upload)
    })
    await pendingFiles.collect()
  }

  const release = async (id: number, owner: string): Promise<void> => {
    await db.query('update upload set lease_owner = null, lease_until = null where id = $1 and lease_owner = $2', [id, owner])
  }

  return async (id) => {
    const owner = `${leases.owner}#${randomToken(4)}`
    const upload = await hold(id, owner)
    const renewing = setInterval(() => void renew(id, owner), LEASE / 3)
    try {
      const { fields } = upload
      const video = fields ? await makeVideo(upload, fields, owner) : await replaceFile(upload, owner)
      await pendingFiles.collect()
      return video
    } catch (error) {
      const isFinal = (kind: ErrorKind) => FINAL.includes(kind) || (kind === 'not_found' && !upload.fields)
      if (error instanceof DomainError && isFinal(error.kind)) await refuse(id, owner)
      else await release(id, owner)
      throw error
    } finally {
      clearInterval(renewing)
    }
  }
}
