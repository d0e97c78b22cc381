// Mails as commands ask for them: stored as a job of the transaction, so that nobody is written to of what did not
// happen. Payloads are ids: addresses, names and secret links are looked up and made when the mail is sent.

import type { Unit } from '../runtime/index.ts'

/** What there is to say, and to whom. */
export type Mail =
  /** A link by which the user shows that the address is theirs; `pending`: the one that is to take its place. */
  | { mail: 'verify-email'; userId: number; pending: boolean }
  | { mail: 'reset-password'; userId: number }
  /** To a user whom an administrator made without a password. */
  | { mail: 'create-password'; userId: number }
  /** With the reason, where there is one. */
  | { mail: 'user-blocked'; userId: number }
  | { mail: 'user-unblocked'; userId: number }
  | { mail: 'verify-registration'; registrationId: number }
  | { mail: 'registration-accepted'; registrationId: number }
  | { mail: 'registration-rejected'; registrationId: number }
  /** As the settings of its user say. */
  | { mail: 'notification'; notificationId: number }
  /** All of one type that came while none was mailed, in one mail. */
  | { mail: 'notifications'; userId: number; type: number }
  /** The archive that a user asked for is there, or could not be made. */
  | { mail: 'user-export'; exportId: number }
  /** An archive of the user was brought in, or could not be. */
  | { mail: 'user-import-completed'; userImportId: number }
  | { mail: 'user-import-failed'; userImportId: number }
  /** To the administrator: a visitor wrote. */
  | { mail: 'contact-form'; contactId: number }

/**
 * An id that nobody has. A mail to nobody is asked for like any other and then not sent, so that the time of an answer does
 * not tell whether an address is known.
 */
export const NOBODY = 0

/** Sends the mail once the transaction is committed, with retries. */
export function askForMail(unit: Unit, { mail, ...ids }: Mail): void {
  const data = Object.fromEntries(Object.entries(ids).map(([name, value]) => [name, Number(value)]))
  // Anybody may ask for the one as often as they like; the other is asked for until it is sent.
  const once = mail === 'reset-password' || mail === 'contact-form' ? { dedupeKey: `${mail}-${Object.values(data)}` } : {}
  unit.enqueue({ type: 'email', data: { mail, ...data }, ...once })
}
