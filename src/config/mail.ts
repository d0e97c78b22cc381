// Whether this server can send mail at all, and at which address it is known to be reached.

import type { Config } from './complete.ts'

/** A mail server is named, or a sendmail command where that is the transport. */
export function isMailEnabled({ smtp }: Pick<Config, 'smtp'>): boolean {
  return smtp.transport === 'sendmail' ? smtp.sendmail !== null : smtp.hostname !== null
}

/** The address of who runs the server, where the texts of the instance say it; else undefined. */
export function publicAddress({ admin, instance }: Pick<Config, 'admin' | 'instance'>): string | undefined {
  const { administrator, description, short_description, terms, moderation_information } = instance
  const said = [administrator, description, short_description, terms, moderation_information].join('\n')
  return said.includes(admin.email) ? admin.email : undefined
}
