// Reads a change of a video, JSON or multipart with pictures, and removes its temporary files.

import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import type { FastifyRequest } from 'fastify'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Uploads } from '../../actors/upload/index.ts'
import type { NewPictures, VideoChanges } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import { type EncodedImage, isRefusal } from '../../media/index.ts'
import { type FormFile, withForm } from '../plugins/multipart.ts'
import { toChanges, updateFields } from './fields.ts'

/** Resizes a picture for its kind. Throws MediaError if it is not a picture. */
export type FitPicture = (name: 'thumbnail' | 'preview', path: string) => Promise<EncodedImage>

export function makeReceiveChanges(deps: { uploads: Pick<Uploads, 'beginForm'>; config: () => Config; fitPicture: FitPicture }) {
  const { uploads, config, fitPicture } = deps
  const schemas = { json: updateFields('json'), form: updateFields('form') }

  /** Reads the request, lets `check` refuse it, and calls `use`. Throws `invalid` with all invalid fields. */
  return async function receiveChanges(
    request: FastifyRequest,
    check: () => void,
    use: (changes: VideoChanges, pictures: NewPictures) => Promise<void>,
  ): Promise<void> {
    const folders: (() => Promise<void>)[] = []
    const pictureFile = (): FormFile<string> => ({
      maxBytes: config().vireo.uploads.max_image_size,
      overLimit: 'bad field',
      async open() {
        const { folder, end } = await uploads.beginForm()
        folders.push(end)
        const path = join(folder, 'sent')
        return { writable: createWriteStream(path, { flags: 'wx' }), value: path, discard: end }
      },
    })
    const fields = request.isMultipart() ? schemas.form : schemas.json
    try {
      await withForm(request, { fields, files: { thumbnailfile: pictureFile(), previewfile: pictureFile() } }, async (sent) => {
        // Before the pictures are resized, which costs more than everything else.
        check()
        await use(toChanges(sent.fields), {
          thumbnail: await fitted('thumbnail', sent.files.thumbnailfile?.value),
          preview: await fitted('preview', sent.files.previewfile?.value),
        })
      })
    } finally {
      await Promise.allSettled(folders.map((discard) => discard()))
    }
  }

  async function fitted(name: 'thumbnail' | 'preview', path: string | undefined): Promise<EncodedImage | undefined> {
    if (path === undefined) return undefined
    try {
      return await fitPicture(name, path)
    } catch (error) {
      if (!isRefusal(error)) throw error
      const msg = 'Should be an image of the type PNG, JPEG or WebP that can be read'
      throw new DomainError('invalid', msg, {
        invalidParams: [{ name: `${name}file`, location: 'body', msg }],
        cause: error,
      })
    }
  }
}
