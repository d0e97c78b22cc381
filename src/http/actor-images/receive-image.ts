// Reads the form with an actor's image, and removes its temporary files.

import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Uploads } from '../../actors/upload/index.ts'
import type { Config } from '../../config/index.ts'
import { isRefusal } from '../../media/index.ts'
import { withForm } from '../plugins/multipart.ts'

const EXTENSIONS = ['.png', '.jpeg', '.jpg', '.gif', '.webp']

/**
 * Calls `use` with the path of the file in `field`. Throws `invalid` with the name of the field if there is no file, or if its name or
 * `use` shows that it is not an image; `too_large` with the limit.
 */
export type ReceiveImage = <T>(request: FastifyRequest, field: string, use: (path: string) => Promise<T>) => Promise<T>

export function makeReceiveImage({ uploads, config }: { uploads: Pick<Uploads, 'beginForm'>; config: () => Config }): ReceiveImage {
  return async function receiveImage(request, field, use) {
    let work: Awaited<ReturnType<Uploads['beginForm']>> | undefined
    const file = {
      maxBytes: config().vireo.uploads.max_image_size,
      async open({ filename }: { filename: string }) {
        if (!EXTENSIONS.some((extension) => filename.toLowerCase().endsWith(extension))) throw notAnImage(field)
        work ??= await uploads.beginForm()
        const path = join(work.folder, 'sent')
        return { writable: createWriteStream(path, { flags: 'wx' }), value: path, discard: async () => undefined }
      },
    }
    try {
      return await withForm(request, { fields: z.object({}), files: { [field]: file } }, async ({ files }) => {
        const received = files[field]
        if (!received) throw notAnImage(field)
        return await use(received.value)
      })
    } catch (error) {
      throw isRefusal(error) ? notAnImage(field, error) : error
    } finally {
      await work?.end()
    }
  }
}

function notAnImage(field: string, cause?: unknown): DomainError {
  const msg = `Should be an image that can be read, of one of these types: ${EXTENSIONS.join(', ')}`
  return new DomainError('invalid', 'The form cannot be accepted.', {
    invalidParams: [{ name: field, location: 'body', msg }],
    cause,
  })
}
