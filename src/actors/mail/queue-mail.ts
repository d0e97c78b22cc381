// Queues mails in the transaction of a command, so that nothing is sent about a rolled-back change. Payloads are ids: addresses, names and
// secret links are looked up when the mail is sent.

import type { Unit } from '../runtime/index.ts'

/** Kinds of mails with their recipients. */
export type Mail =
  /** A link to verify the user's address; `pending`: the new one that will replace it. */
  | { mail: 'verify-email'; userId: number; pending: boolean }
  | { mail: 'reset-password'; userId: number }
  /** To a user whom an administrator created without a password. */
  | { mail: 'create-password'; userId: number }
  /** With the reason, if there is one. */
  | { mail: 'user-blocked'; userId: number }
  | { mail: 'user-unblocked'; userId: number }
  | { mail: 'verify-registration'; registrationId: number }
  | { mail: 'registration-accepted'; registrationId: number }
  | { mail: 'registration-rejected'; registrationId: number }
  /** By the settings of its user. */
  | { mail: 'notification'; notificationId: number }
  /** All of one type that were held back, in one mail. */
  | { mail: 'notifications'; userId: number; type: number }
  /** A requested archive is ready, or failed. */
  | { mail: 'user-export'; exportId: number }
  /** An archive was imported, or the import failed. */
  | { mail: 'user-import-completed'; userImportId: number }
  | { mail: 'user-import-failed'; userImportId: number }
  /** To the administrator: a visitor's message. */
  | { mail: 'contact-form'; contactId: number }
  /** To the administrator: a plugin was switched off since it fails. */
  | { mail: 'plugin-failed'; pluginId: number }

/**
 * An id that no user has. A mail to nobody is queued like any other and then not sent, so that the response time does not reveal whether an
 * address is known.
 */
export const NOBODY = 0

/** Sends the mail after the commit, with retries. */
export function queueMail(unit: Unit, { mail, ...ids }: Mail): void {
  const data = Object.fromEntries(Object.entries(ids).map(([name, value]) => [name, Number(value)]))
  // These may be requested any number of times; others are queued once until they are sent.
  const once = mail === 'reset-password' || mail === 'contact-form' ? { dedupeKey: `${mail}-${Object.values(data)}` } : {}
  unit.enqueue({ type: 'email', data: { mail, ...data }, ...once })
}
