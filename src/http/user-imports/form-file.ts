// The archive of an import as the file of a form.

import { PassThrough } from 'node:stream'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Uploads } from '../../actors/upload/index.ts'
import type { FormFile } from '../plugins/multipart.ts'

export interface ReceivedArchive {
  /** Called when the form is complete: the import begins. Throws the refusal of the archive. */
  finish(): Promise<void>
}

/**
 * Streamed as it arrives: the file is the only chunk of an ordinary upload. `formBytes` is the Content-Length of the form, which limits
 * its file. Throws `invalid` for a form of unknown length, and like `Uploads.openArchive` and `Uploads.receiveArchive`. A refused or
 * interrupted file is removed.
 */
export function archiveFile(options: {
  uploads: Pick<Uploads, 'openArchive' | 'receiveArchive' | 'endArchive' | 'cancel'>
  userId: number
  maxBytes: number
  formBytes: string | undefined
}): FormFile<ReceivedArchive> {
  const { uploads, userId, maxBytes, formBytes } = options
  return {
    maxBytes,
    async open({ filename, mimetype }) {
      const size = Number(formBytes)
      if (!(size > 0)) throw new DomainError('invalid', 'The form needs a Content-Length.')
      const upload = { userId, fileName: filename, size, type: mimetype, isForm: true }
      const own = { userId, token: (await uploads.openArchive(upload)).token }
      const bytes = new PassThrough()
      const range = { kind: 'chunk', from: 0, to: size - 1, size } as const
      const received = uploads.receiveArchive({ ...own, range, body: bytes })
      received.catch((error: unknown) => bytes.destroy(error instanceof Error ? error : new Error(String(error))))
      return {
        writable: bytes,
        value: {
          async finish() {
            await received
            await uploads.endArchive(own)
          },
        },
        async discard() {
          bytes.destroy()
          await received.catch(() => undefined)
          await uploads.cancel(own)
        },
      }
    },
  }
}
