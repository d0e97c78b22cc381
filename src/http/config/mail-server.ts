// The mail server while this one runs: keys of `smtp` with their names of the configuration. The password is taken and never shown; files
// and commands of the server are set in its configuration only.

import { z } from 'zod'
import { type Change, changesOf } from '../../actors/runtime-config/index.ts'
import type { Config } from '../../config/index.ts'
import { missingSecret } from './logins.ts'

/** Without limits: the files may have any value. */
const shown = z.object({
  hostname: z.string().nullable(),
  port: z.int(),
  username: z.string().nullable(),
  tls: z.boolean(),
  from_address: z.string(),
})
export const mailServerView = shown
  .extend({
    pinned: z.array(z.string()).meta({ description: 'The keys that the environment of the server sets, and that cannot be changed.' }),
  })
  .meta({ id: 'MailServer' })

const name = z.string().trim().max(255)
export const mailServerBody = z
  .object({
    hostname: name.nullable(),
    port: z.int().min(1).max(65_535),
    username: name.nullable(),
    password: z.string().max(1000).nullable(),
    tls: z.boolean(),
    from_address: name.regex(/^[^\s@]+@[^\s@]+$/, 'Should be an e-mail address'),
  })
  .partial()

export const toMailServerView = ({ smtp }: Config, isPinned: (key: string) => boolean): z.infer<typeof mailServerView> => ({
  ...shown.parse(smtp),
  pinned: Object.keys(mailServerBody.shape).filter((key) => isPinned(`smtp.${key}`)),
})

/**
 * The changed keys. What is left out stays; null means none, whatever the files have. A password goes to no other server, for no other
 * user and with no other encryption than it was set for: whoever changes those sends it again.
 */
export function mailServerChanges(sent: z.infer<typeof mailServerBody>, { smtp }: Config): Change[] {
  const changed = Object.entries(sent).filter(([key, value]) => value !== smtp[key as keyof typeof sent])
  const next = { ...smtp, ...Object.fromEntries(changed) }
  const isSame = (['hostname', 'port', 'username', 'tls'] as const).every((key) => next[key] === smtp[key])
  const isUsed = next.hostname !== null && next.username !== null
  if (!isSame && isUsed && smtp.password !== null && sent.password === undefined) throw missingSecret('password')
  // The configuration takes an empty text for none, and null for the value of the files.
  return changesOf({ smtp: Object.fromEntries(changed.map(([key, value]) => [key, value ?? ''])) })
}
