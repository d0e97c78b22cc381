// What the noun `notification` does for mails: says which notifications a mail is to carry, and remembers which were sent.

import type { NoticeMail } from './templates/notice-mail.ts'

/** `notices` are the first ones, in their order; `total` counts the others too. */
export interface Mailed extends NoticeMail {
  userId: number
  /** Address of the user. */
  to: string
}

/** `job`: that of the mail. Asked again for the same job, they answer the same until it was sent, as far as it still is to be told. */
export interface MailBatches {
  /** The mail of one notification; undefined when it is to wait for others, or there is nothing to send (any more). */
  one(notificationId: number, job: number): Promise<Mailed | undefined>
  /** The mail of all that wait; `type` is a number of the contract. */
  waiting(of: { userId: number; type: number }, job: number): Promise<Mailed | undefined>
  /** The mail cannot be sent for now: what waited waits on, for whatever comes meanwhile. */
  putBack(job: number): Promise<void>
  sent(job: number): Promise<void>
}
