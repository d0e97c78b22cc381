// The archive in a form, streamed as it arrives: the form's file is the only chunk of an ordinary upload.

import { PassThrough } from 'node:stream'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Uploads } from '../../actors/upload/index.ts'
import type { FormFile } from '../plugins/multipart.ts'

export interface ReceivedArchive {
  /** Called when the form is complete: the import begins. Throws the refusal of the archive. */
  finish(): Promise<void>
}

/**
 * `formBytes` is the form's Content-Length, which limits its file; `check` validates the form's token. Throws `invalid` for a form of
 * unknown length, and like `Uploads.openArchive` and `Uploads.receiveArchive`. A refused or interrupted file is removed.
 */
export function receivedArchive(options: {
  uploads: Pick<Uploads, 'openArchive' | 'receiveArchive' | 'endArchive' | 'cancel'>
  userId: number
  maxBytes: number
  formBytes: string | undefined
  check: (token: string | undefined) => void
}): FormFile<ReceivedArchive> {
  const { uploads, userId, maxBytes, formBytes, check } = options
  return {
    maxBytes,
    async open({ filename, mimetype }, sent) {
      check(sent('token'))
      const size = Number(formBytes)
      if (!(size > 0)) throw new DomainError('invalid', 'The browser has to say how long the form is.')
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
