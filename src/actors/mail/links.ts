// Secrets of links in mails: signed, for one purpose and object, with an expiry. A link is bound to the data that its use changes (the
// address, the password), so that it is valid once; and only the link of the newest mail counts.

import type { Sql } from '../../platform/database/index.ts'
import type { SignedTokens } from '../../platform/signed-tokens.ts'
import { type ActorDeps, DomainError } from '../runtime/index.ts'

export type LinkPurpose = 'verify-email' | 'verify-new-email' | 'verify-registration' | 'password'

/** The subject of a link: the row, and the data that its use changes. */
export interface LinkSubject {
  purpose: LinkPurpose
  id: number
  state: string
}

/** Throws `forbidden` unless the link is for the current state of this subject, and from its newest mail. */
export type CheckLink = (query: Sql, subject: Omit<LinkSubject, 'purpose'>) => Promise<void>

const SWEEP_EVERY_MS = 3_600_000
const STATE_CHARACTERS = 16

export type MailLinks = ReturnType<typeof makeMailLinks>

export function makeMailLinks(deps: ActorDeps & { signedTokens: SignedTokens }) {
  const { db, clock, config, registry, secrets, signedTokens } = deps

  registry.periodic('mail-links', {
    everyMs: () => SWEEP_EVERY_MS,
    run: async () => {
      const { email_verification, password_create, password_reset } = config().vireo.lifetimes
      const longest = Math.max(email_verification, password_create, password_reset)
      await db.query('delete from mail_link where created_at < $1', [new Date(clock.now().getTime() - longest)])
    },
  })

  /** A digest instead of the address or the hash: the payload of a signed token is readable. */
  const digest = ({ purpose, id, state }: LinkSubject): string =>
    secrets.hmac('mail-link', JSON.stringify([purpose, id, state])).slice(0, STATE_CHARACTERS)

  return {
    /** The secret for a mail (the id of its job); undefined if a newer mail has replaced it. */
    async make(subject: LinkSubject, mail: { id: number; lifetimeMs: number }): Promise<string | undefined> {
      const rows = await db.query(
        `insert into mail_link (purpose, subject_id, mail, created_at) values ($1, $2, $3, $4)
         on conflict (purpose, subject_id) do update set mail = excluded.mail, created_at = excluded.created_at
         where mail_link.mail <= excluded.mail returning mail`,
        [subject.purpose, subject.id, mail.id, clock.now()],
      )
      if (rows.length === 0) return undefined
      const claims = { to: subject.id, mail: mail.id, state: digest(subject) }
      return toHex(await signedTokens.sign(subject.purpose, claims, mail.lifetimeMs))
    },

    /** Parses a secret from a client. Returns the check for the transaction, which throws `forbidden`. */
    async read(purpose: LinkPurpose, secret: string): Promise<CheckLink> {
      const claims = await signedTokens.read(purpose, fromHex(secret))
      return async (query, { id, state }) => {
        if (claims?.to !== id || claims.state !== digest({ purpose, id, state })) throw refused()
        const newest = await query('select 1 from mail_link where purpose = $1 and subject_id = $2 and mail = $3', [
          purpose,
          id,
          Number(claims.mail),
        ])
        if (newest.length === 0) throw refused()
      }
    },
  }
}

const refused = (): DomainError => new DomainError('forbidden', 'Invalid verification string.')

// Clients accept only hexadecimal digits for a verification string.
const toHex = (token: string): string => Buffer.from(token, 'latin1').toString('hex')
const fromHex = (text: string): string => (/^[0-9a-f]+$/.test(text) ? Buffer.from(text, 'hex').toString('latin1') : '')
