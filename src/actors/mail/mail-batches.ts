// Port to the noun `notification`: which notifications a mail contains, and which were sent.

import type { NoticeMail } from './templates/notice-mail.ts'

/** `notices` are the first ones, in order; `total` counts all. */
export interface Mailed extends NoticeMail {
  userId: number
  /** Address of the user. */
  to: string
  /** Of the pages, BCP 47; null if the user chose none. */
  language: string | null
}

/**
 * `job`: that of the mail. Repeated calls for the same job return the same notifications until they are sent, as far as they are still
 * valid.
 */
export interface MailBatches {
  /** The mail of one notification; undefined if it waits for others, or there is nothing to send (any more). */
  one(notificationId: number, job: number): Promise<Mailed | undefined>
  /** The mail of all waiting ones; `type` is a number of the contract. */
  waiting(of: { userId: number; type: number }, job: number): Promise<Mailed | undefined>
  /** The mail cannot be sent now: its notifications wait for further ones. */
  putBack(job: number): Promise<void>
  sent(job: number): Promise<void>
}
