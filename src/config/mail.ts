// Whether this server can send mail at all.

import type { Config } from './complete.ts'

/** A mail server is named, or a sendmail command where that is the transport. */
export function isMailEnabled({ smtp }: Pick<Config, 'smtp'>): boolean {
  return smtp.transport === 'sendmail' ? smtp.sendmail !== null : smtp.hostname !== null
}
