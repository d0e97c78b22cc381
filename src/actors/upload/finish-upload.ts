// Makes the video of a complete upload. Killed at any line, the next request that asks goes on from there: where the file
// is being moved to is stored before it is moved, and the video's rows come with the end of the upload in one transaction.

import { randomToken } from '../../platform/ids.ts'
import { DomainError, type ErrorKind, type Unit } from '../runtime/index.ts'
import type { CreatedVideo, GivenPictures, PictureName, VideoDraft } from '../video/index.ts'
import { busy } from './receive-chunk.ts'
import { Upload } from './upload.entity.ts'
import { filesOf, isHeld, isOpen, moveUpload, pictureFile, type UploadDeps, uploadFile } from './upload-state.ts'

/** How long a request that finishes an upload owns it without a sign of life, in ms. */
const LEASE = 15_000

/** Refusals that another try cannot change: the upload is over. */
const FINAL: readonly ErrorKind[] = ['invalid', 'forbidden', 'too_large', 'unsupported_media_type', 'unprocessable']

export type FinishUpload = (id: number) => Promise<CreatedVideo>

export function makeFinishUpload(deps: UploadDeps): FinishUpload {
  const { db, tell, clock, config, logger, store, createVideo, pendingFiles, leases } = deps
  const silence = (): number => config().vireo.uploads.session_lifetime

  /** Runs one step of the upload's owner. Throws `busy` or `not_found` when it is ours no more. */
  const asOwner = <T>(id: number, owner: string, work: (unit: Unit, upload: Upload) => Promise<T>): Promise<T> =>
    tell({ aggregate: 'upload', id }, async (unit) => {
      const upload = await unit.em.findOneOrFail(Upload, id)
      if (!isOpen(upload.state)) throw new DomainError('not_found', 'This upload has ended.')
      if (upload.leaseOwner !== owner) throw busyFinishing()
      return await work(unit, upload)
    })

  const busyFinishing = (): DomainError => busy(config().vireo.uploads.busy_retry_after)

  const hold = (id: number, owner: string): Promise<Upload> =>
    tell({ aggregate: 'upload', id }, async (unit) => {
      const upload = await unit.em.findOneOrFail(Upload, id)
      if (upload.state !== 'assembled') throw new DomainError('not_found', 'This upload has ended.')
      if (isHeld(upload, unit.now, leases)) throw busyFinishing()
      upload.leaseOwner = owner
      upload.leaseUntil = new Date(unit.now.getTime() + LEASE)
      return upload
    })

  async function renew(id: number, owner: string): Promise<void> {
    await db
      .query('update upload set lease_until = $3 where id = $1 and lease_owner = $2', [
        id,
        owner,
        new Date(clock.now().getTime() + LEASE),
      ])
      .catch((error) => logger.warn({ err: error, upload: id }, 'the lease of an upload could not be renewed'))
  }

  async function makeVideo(upload: Upload, owner: string): Promise<CreatedVideo> {
    const { id, userId, fields, fileName } = upload
    const isMoved = upload.place ? (await store.stat(upload.place)) !== undefined : false
    const source = isMoved && upload.place ? upload.place : uploadFile(upload.token)
    return await store.withLocalPath(source, async (path) => {
      const pictures = await picturesOf(upload)
      const place = upload.place ?? undefined
      const draft = await createVideo.inspect({ userId, fields, inputFilename: fileName, path, pictures, place })
      await asOwner(id, owner, async (_unit, row) => {
        row.place = draft.place
      })
      try {
        await createVideo.place(draft, path)
        return await asOwner(id, owner, (unit, row) => storeVideo(unit, row, draft))
      } catch (error) {
        if (!(await isStored(draft))) await createVideo.discard(draft, { source: false })
        throw error
      }
    })
  }

  async function storeVideo(unit: Unit, upload: Upload, draft: VideoDraft): Promise<CreatedVideo> {
    const video = await createVideo.insert(unit, draft)
    moveUpload(unit, upload, { type: 'FINISHED' }, silence())
    upload.videoId = video.id
    upload.leaseOwner = null
    upload.leaseUntil = null
    // The file is the video's from now on; what else the upload had goes.
    await pendingFiles.condemn(unit.query, filesOf({ token: upload.token, place: null }))
    return video
  }

  const isStored = async ({ uuid }: VideoDraft): Promise<boolean> =>
    (await db.query('select id from video where uuid = $1', [uuid])).length > 0

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

  /** The file cannot become a video: neither row nor bytes stay. */
  async function refuse(id: number, owner: string): Promise<void> {
    await asOwner(id, owner, async (unit, upload) => {
      moveUpload(unit, upload, { type: 'REFUSED' }, silence())
      await pendingFiles.condemn(unit.query, filesOf(upload))
      unit.em.remove(upload)
    })
    await pendingFiles.collect()
  }

  const release = async (id: number, owner: string): Promise<void> => {
    await db.query('update upload set lease_owner = null, lease_until = null where id = $1 and lease_owner = $2', [
      id,
      owner,
    ])
  }

  return async (id) => {
    const owner = `${leases.owner}#${randomToken(4)}`
    const upload = await hold(id, owner)
    const renewing = setInterval(() => void renew(id, owner), LEASE / 3)
    try {
      const video = await makeVideo(upload, owner)
      await pendingFiles.collect()
      return video
    } catch (error) {
      if (error instanceof DomainError && FINAL.includes(error.kind)) await refuse(id, owner)
      else await release(id, owner)
      throw error
    } finally {
      clearInterval(renewing)
    }
  }
}
