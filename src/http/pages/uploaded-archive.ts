// The archive in a form, passed on as it arrives: the form's file is the only chunk of an upload like any other.

import { PassThrough } from 'node:stream'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Uploads } from '../../actors/upload/index.ts'
import type { FormFile } from '../plugins/multipart.ts'

export interface ReceivedArchive {
  /** When the form is all there: the import begins. Throws what refuses the archive. */
  finish(): Promise<void>
}

/**
 * `formBytes` is the form's Content-Length, in which its file has to fit, and `check` refuses a form by its token. Throws `invalid` for
 * a form of unknown length, and as `Uploads.openArchive` and `Uploads.receiveArchive` do. Nothing stays of a file that is refused, or
 * whose sender goes away.
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
