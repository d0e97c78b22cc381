// The link by which the reader of a mail ends mails of its kind, without a login. It works as long as the user has that address, and
// this installation its secret: mails are read years later.

import { timingSafeEqual } from 'node:crypto'
import type { Secrets } from '../../platform/secrets.ts'

/** Of whom, and which setting. */
export interface UnsubscribeSubject {
  userId: number
  setting: string
}

export const UNSUBSCRIBE_PATH = '/mail-preferences/unsubscribe'

const SIGNATURE_CHARACTERS = 32

export interface UnsubscribeLinks {
  /** `email`: the address to which the mail goes. */
  make(subject: UnsubscribeSubject, email: string): string
  /** Whether the signature is that of the link for the user's address of now. */
  isOurs(signature: string, subject: UnsubscribeSubject, email: string): boolean
}

export function makeUnsubscribeLinks(deps: { secrets: Secrets; urls: { origin: string } }): UnsubscribeLinks {
  const sign = ({ userId, setting }: UnsubscribeSubject, email: string): string =>
    deps.secrets.hmac('unsubscribe', JSON.stringify([userId, setting, email])).slice(0, SIGNATURE_CHARACTERS)
  return {
    make(subject, email) {
      const { userId, setting } = subject
      return `${deps.urls.origin}${UNSUBSCRIBE_PATH}/${userId}/${setting}/${sign(subject, email)}`
    },
    isOurs(signature, subject, email) {
      const [given, known] = [Buffer.from(signature), Buffer.from(sign(subject, email))]
      return given.length === known.length && timingSafeEqual(given, known)
    },
  }
}
