// The contact form: messages of visitors to the administrator. Messages are stored until they are mailed; each IP address may send one per
// period, in all processes.

import { isMailEnabled } from '../../config/index.ts'
import { queueMail } from '../mail/index.ts'
import { type ActorDeps, DomainError } from '../runtime/index.ts'

export interface ContactMessage {
  fromName: string | null
  fromEmail: string
  subject: string | null
  body: string
}

const SWEEP_EVERY_MS = 3_600_000
/** Messages that could not be mailed are deleted after this time. */
const KEEP_MS = 7 * 86_400_000
/** Messages that are queued again at once, after an outage of the mail server that outlasted a job's attempts. */
const MAILS = 100

export type Contact = ReturnType<typeof makeContact>

export function makeContact({ db, tell, registry, clock, config, secrets }: ActorDeps) {
  const ago = (ms: number): Date => new Date(clock.now().getTime() - ms)

  registry.periodic('contact-form', {
    everyMs: () => SWEEP_EVERY_MS,
    run: async () => {
      await db.query('delete from contact_sender where sent_at <= $1', [ago(config().vireo.lifetimes.contact_form_per_ip)])
      await db.query('delete from contact_message where created_at <= $1', [ago(KEEP_MS)])
      if (!isMailEnabled(config())) return
      const unsent = await db.query<{ id: number }>('select id from contact_message order by id limit $1', [MAILS])
      await tell.create(async (unit) => {
        for (const { id } of unsent) queueMail(unit, { mail: 'contact-form', contactId: id })
      })
    },
  })

  return {
    /** `sender`: the IP address. Throws `forbidden` if it wrote within `vireo.lifetimes.contact_form_per_ip`. */
    async write({ fromName, fromEmail, subject, body }: ContactMessage, sender: string): Promise<void> {
      const hash = secrets.hmac('contact-form', sender)
      await tell.create(async (unit) => {
        // Concurrent requests wait here, and the second one is refused.
        const may = await unit.query(
          `insert into contact_sender (sender, sent_at) values ($1, $2)
           on conflict (sender) do update set sent_at = excluded.sent_at where contact_sender.sent_at <= $3 returning 1`,
          [hash, unit.now, ago(config().vireo.lifetimes.contact_form_per_ip)],
        )
        if (may.length === 0) throw new DomainError('forbidden', 'A message was sent from this address a short while ago.')
        const [message] = await unit.query<{ id: number }>(
          `insert into contact_message (from_name, from_email, subject, body, created_at) values ($1, $2, $3, $4, $5)
           returning id`,
          [fromName, fromEmail, subject, body, unit.now],
        )
        if (message) queueMail(unit, { mail: 'contact-form', contactId: message.id })
      })
    },
  }
}
