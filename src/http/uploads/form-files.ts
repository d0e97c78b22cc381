// Targets of the files of an upload form: in a folder of the request, refused as early as the name and the first bytes allow.

import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Uploads } from '../../actors/upload/index.ts'
import { type GivenPictures, overQuota, type PictureName } from '../../actors/video/index.ts'
import { isDiskFull, MediaError } from '../../media/index.ts'
import type { FilePart, FileTarget, FormFile } from '../plugins/multipart.ts'

export const PICTURES = ['.png', '.jpg', '.jpeg', '.webp']

/** The file of a video, cut off when it exceeds what the user may add (`left` bytes). */
export function videoFile(options: { uploads: Uploads; folder: string; left: number; maxBytes: number }): FormFile<string> {
  const { uploads, folder, left, maxBytes } = options
  return {
    maxBytes,
    async open({ filename }: FilePart): Promise<FileTarget<string>> {
      // The type of the part is ignored: many clients omit it, and the content decides in the end.
      uploads.checkFile({ fileName: filename })
      const path = join(folder, 'video')
      return { ...toFile(path, { left }), value: path }
    },
  }
}

/** A picture of a video, by its field. */
export function pictureFile(options: { field: string; folder: string; maxBytes: number }): FormFile<string> {
  const { field, folder, maxBytes } = options
  return {
    maxBytes,
    overLimit: 'bad field',
    async open({ filename }) {
      if (!PICTURES.some((extension) => filename.toLowerCase().endsWith(extension))) throw notAPicture(field)
      const path = join(folder, field)
      return { ...toFile(path, { left: Number.POSITIVE_INFINITY }), value: path }
    },
  }
}

/** Both pictures of a video. */
export const pictureFiles = (options: { folder: string; maxBytes: number }) => ({
  thumbnailfile: pictureFile({ field: 'thumbnailfile', ...options }),
  previewfile: pictureFile({ field: 'previewfile', ...options }),
})

/** Runs `work` with a folder for the files of a request, which is removed afterwards. */
export async function withFolder<T>(uploads: Pick<Uploads, 'beginForm'>, work: (folder: string) => Promise<T>): Promise<T> {
  const { folder, end } = await uploads.beginForm()
  try {
    return await work(folder)
  } finally {
    await end()
  }
}

/** The pictures in their final size. Throws `invalid` if one is not a picture. */
export async function fitPictures(
  uploads: Pick<Uploads, 'fitPicture'>,
  files: { thumbnailfile?: { value: string } | undefined; previewfile?: { value: string } | undefined },
): Promise<GivenPictures> {
  const fitted = async (name: PictureName, path: string | undefined): Promise<GivenPictures> => {
    if (path === undefined) return {}
    try {
      return { [name]: await uploads.fitPicture(name, path) }
    } catch (error) {
      throw error instanceof MediaError && !isDiskFull(error) ? notAPicture(`${name}file`) : error
    }
  }
  return {
    ...(await fitted('thumbnail', files.thumbnailfile?.value)),
    ...(await fitted('preview', files.previewfile?.value)),
  }
}

/** Writes to a path, within the budget of bytes; the request removes its folder. */
export function toFile(path: string, budget: { left: number }): { writable: Writable; discard(): Promise<void> } {
  const file = createWriteStream(path, { flags: 'wx' })
  const writable = new Writable({
    write(chunk: Buffer, _encoding, done) {
      budget.left -= chunk.length
      if (budget.left < 0) done(overQuota())
      else file.write(chunk, done)
    },
    final: (done) => void file.end(done),
    destroy(error, done) {
      file.destroy()
      done(error)
    },
  })
  file.on('error', (error) => writable.destroy(error))
  return { writable, discard: async () => undefined }
}

const notAPicture = (field: string): DomainError =>
  new DomainError('invalid', 'The form cannot be accepted.', {
    invalidParams: [
      {
        name: field,
        location: 'body',
        msg: `This file is not supported or too large. Please make sure it is of one of these types: ${PICTURES.join(', ')}`,
      },
    ],
  })
