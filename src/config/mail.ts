// Whether this server can send mail, and the operator's public address.

import type { Config } from './complete.ts'

/** True if a mail server is configured, or a sendmail command if that is the transport. */
export function isMailEnabled({ smtp }: Pick<Config, 'smtp'>): boolean {
  return smtp.transport === 'sendmail' ? smtp.sendmail !== null : smtp.hostname !== null
}

/** The address of the operator, if the texts of the instance contain it; otherwise undefined. */
export function publicAddress({ admin, instance }: Pick<Config, 'admin' | 'instance'>): string | undefined {
  const { administrator, description, short_description, terms, moderation_information } = instance
  const said = [administrator, description, short_description, terms, moderation_information].join('\n')
  return said.includes(admin.email) ? admin.email : undefined
}
