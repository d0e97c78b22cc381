// The mail server while this one runs: keys of `smtp` with their names of the configuration. The password is taken and never shown; files
// and commands of the server are set in its configuration only.

import { z } from 'zod'
import { type Change, changesOf } from '../../actors/runtime-config/index.ts'
import type { Config } from '../../config/index.ts'
import { keptSecret } from './logins.ts'

const name = z.string().trim().max(255)

export const mailServerView = z
  .object({
    hostname: name.nullable(),
    port: z.int().min(1).max(65_535),
    username: name.nullable(),
    tls: z.boolean(),
    from_address: name.regex(/^[^\s@]+@[^\s@]+$/, 'Should be an e-mail address'),
  })
  .meta({ id: 'MailServer' })

export const mailServerBody = z.object({ ...mailServerView.shape, password: z.string().max(1000).nullable() }).partial()

export const toMailServerView = ({ smtp }: Config): z.infer<typeof mailServerView> => mailServerView.parse(smtp)

/** The changed keys. What is left out stays: the password too, as long as it goes where it went before. */
export function mailServerChanges({ password, ...sent }: z.infer<typeof mailServerBody>, { smtp }: Config): Change[] {
  // Without a mail server it goes nowhere.
  const isSame =
    sent.hostname === null || (['hostname', 'port', 'username'] as const).every((key) => sent[key] === undefined || sent[key] === smtp[key])
  return changesOf({ smtp: { ...sent, password: keptSecret(password, smtp.password, { isSame, name: 'password' }) } })
}
