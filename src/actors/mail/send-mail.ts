// The job `email`: looks up recipient and content, makes the secret links, and sends the mail. Nothing is sent about removed or settled
// objects.

import { z } from 'zod'
import { isMailEnabled } from '../../config/index.ts'
import type { Columns } from '../../platform/database/index.ts'
import { languageOfTag } from '../../platform/languages.ts'
import { type Mailer, MailRefused } from '../../platform/mailer.ts'
import type { ContactMessage } from '../contact/contact.entity.ts'
import { removeContactMessage } from '../contact/contact.writes.ts'
import type { Registration } from '../registration/registration.entity.ts'
import { type ActorDeps, type JobContext, NotNow, PermanentFailure } from '../runtime/index.ts'
import type { User } from '../user/user.entity.ts'
import type { UserImport } from '../user-import/user-import.entity.ts'
import { newAddressState, passwordState, registrationState, verifyEmailState } from './link-states.ts'
import type { LinkSubject, MailLinks } from './links.ts'
import type { MailBatches, Mailed } from './mail-batches.ts'
import type { Mail } from './queue-mail.ts'
import * as clientPages from './templates/client-pages.ts'
import { type Letter, renderMail } from './templates/layout.ts'
import * as letters from './templates/letters.ts'
import { noticeLetter, threadOf } from './templates/notice-mail.ts'
import { unsubscribeUrl } from './unsubscribe.ts'

const userId = z.int()
const registrationId = z.int()
const payload = z.discriminatedUnion('mail', [
  z.object({ mail: z.literal('verify-email'), userId, pending: z.int().transform(Boolean) }),
  z.object({ mail: z.literal('reset-password'), userId }),
  z.object({ mail: z.literal('create-password'), userId }),
  z.object({ mail: z.literal('verify-registration'), registrationId }),
  z.object({ mail: z.literal('registration-accepted'), registrationId }),
  z.object({ mail: z.literal('registration-rejected'), registrationId }),
  z.object({ mail: z.literal('user-blocked'), userId }),
  z.object({ mail: z.literal('user-unblocked'), userId }),
  z.object({ mail: z.literal('notification'), notificationId: z.int() }),
  z.object({ mail: z.literal('notifications'), userId, type: z.int() }),
  z.object({ mail: z.literal('user-export'), exportId: z.int() }),
  z.object({ mail: z.literal('user-import-completed'), userImportId: z.int() }),
  z.object({ mail: z.literal('user-import-failed'), userImportId: z.int() }),
  z.object({ mail: z.literal('contact-form'), contactId: z.int() }),
  z.object({ mail: z.literal('plugin-failed'), pluginId: z.int() }),
]) satisfies z.ZodType<Mail>

/** A letter with its recipient; undefined if there is nothing to send any more. */
type Addressed =
  | {
      to: string | readonly string[]
      letter: Letter
      /** What the user chose for the pages, BCP 47; English without it. */
      language?: string | null
      /** Reply address, if it differs from the sender's. */
      replyTo?: string
      /** Unsubscribe address for mails of its kind. */
      unsubscribe?: string
      thread?: string
      /** Deletes the source of the mail, or marks it as sent. */
      sent?: () => Promise<unknown>
      /** Called when it has to wait for the mail server, or for a retry. */
      waits?: () => Promise<unknown>
    }
  | undefined

/** How long a mail is resent to a server that defers it; then the attempts of its job count. */
const COMES_AGAIN_FOR_MS = 24 * 3_600_000

export function sendMails(deps: ActorDeps & { mailer: Mailer; links: MailLinks; batches: MailBatches }): void {
  const { db, clock, config, registry, urls, logger, mailer, links, batches } = deps

  registry.job('email', {
    queue: 'mail',
    async run(job) {
      if (!isMailEnabled(config())) return logger.warn({ job: job.id }, 'a mail was not sent, since no mail server is configured')
      const addressed = await address(payload.parse(job.data), job)
      if (!addressed) return logger.debug({ job: job.id }, 'a mail is not needed any more')
      const { email, instance } = config()
      const stationery = {
        subjectPrefix: email.subject.prefix,
        signature: email.body.signature,
        instanceName: instance.name,
        instanceUrl: urls.origin,
      }
      const { subject, text, html } = renderMail(addressed.letter, stationery, languageOfTag(addressed.language))
      try {
        await mailer.send({
          id: `mail-${job.id}`,
          host: new URL(urls.origin).hostname,
          to: addressed.to,
          fromName: instance.name,
          subject,
          text,
          html,
          ...(addressed.replyTo === undefined ? {} : { replyTo: addressed.replyTo }),
          ...(addressed.unsubscribe === undefined ? {} : { unsubscribe: addressed.unsubscribe }),
          ...(addressed.thread === undefined ? {} : { thread: addressed.thread }),
        })
      } catch (error) {
        if (!(error instanceof MailRefused)) throw error
        if (error.permanent) throw new PermanentFailure(error.message)
        // If this was the last attempt of the job, another mail carries its content.
        await addressed.waits?.()
        if (error.outage || (error.temporary && (await isYoung(job.id)))) throw new NotNow(error.message)
        throw error
      }
      await addressed.sent?.()
    },
  })

  async function isYoung(jobId: number): Promise<boolean> {
    const since = new Date(clock.now().getTime() - COMES_AGAIN_FOR_MS)
    return (await db.query('select 1 from job where id = $1 and created_at > $2', [jobId, since])).length > 0
  }

  async function address(mail: Mail, job: JobContext): Promise<Addressed> {
    switch (mail.mail) {
      case 'verify-email':
        return mail.pending ? await verifyNewEmail(mail.userId, job) : await verifyEmail(mail.userId, job)
      case 'reset-password':
        return await password(mail.userId, job, 'reset')
      case 'create-password':
        return await password(mail.userId, job, 'create')
      case 'verify-registration':
        return await verifyRegistration(mail.registrationId, job)
      case 'registration-accepted':
      case 'registration-rejected':
        return await registrationDecided(mail.registrationId)
      case 'user-blocked':
        return await block(mail.userId, true)
      case 'user-unblocked':
        return await block(mail.userId, false)
      case 'notification':
        return notified(await batches.one(mail.notificationId, job.id), job)
      case 'notifications': {
        const addressed = notified(await batches.waiting(mail, job.id), job)
        return addressed && { ...addressed, waits: () => batches.putBack(job.id) }
      }
      case 'user-export':
        return await exported(mail.exportId)
      case 'user-import-completed':
      case 'user-import-failed':
        return await userImported(mail.userImportId)
      case 'contact-form':
        return await contactForm(mail.contactId)
      case 'plugin-failed':
        return await pluginFailed(mail.pluginId)
    }
  }

  async function verifyEmail(id: number, job: JobContext): Promise<Addressed> {
    const user = await findUser(id)
    if (!user || user.email_verified) return undefined
    const lifetimeMs = config().vireo.lifetimes.email_verification
    const subject = { purpose: 'verify-email', id, state: verifyEmailState(user) } as const
    const url = await link('/verify-account/email', { userId: id }, subject, { id: job.id, lifetimeMs })
    if (url === undefined) return undefined
    return { ...userOf(user), letter: letters.verifyEmail({ ...greeting(user), url, lifetimeMs }) }
  }

  async function verifyNewEmail(id: number, job: JobContext): Promise<Addressed> {
    const user = await findUser(id)
    if (!user?.pending_email) return undefined
    const lifetimeMs = config().vireo.lifetimes.email_verification
    const subject = { purpose: 'verify-new-email', id, state: newAddressState(user) } as const
    const url = await link('/verify-account/email', { userId: id }, subject, { id: job.id, lifetimeMs })
    if (url === undefined) return undefined
    const pending = `${url}&isPendingEmail=true`
    return { ...userOf(user), to: user.pending_email, letter: letters.verifyNewEmail({ ...greeting(user), url: pending, lifetimeMs }) }
  }

  async function password(id: number, job: JobContext, verb: 'reset' | 'create'): Promise<Addressed> {
    const user = await findUser(id)
    if (!user) return undefined
    const { password_reset, password_create } = config().vireo.lifetimes
    const lifetimeMs = verb === 'reset' ? password_reset : password_create
    const subject = { purpose: 'password', id, state: passwordState(user) } as const
    const url = await link('/reset-password', { userId: id }, subject, { id: job.id, lifetimeMs })
    if (url === undefined) return undefined
    const write = verb === 'reset' ? letters.resetPassword : letters.createPassword
    return { ...userOf(user), letter: write({ ...greeting(user), url, lifetimeMs }) }
  }

  async function verifyRegistration(id: number, job: JobContext): Promise<Addressed> {
    const registration = await findRegistration(id)
    if (registration?.state !== 'requested') return undefined
    const lifetimeMs = config().vireo.lifetimes.email_verification
    const subject = { purpose: 'verify-registration', id, state: registrationState(registration) } as const
    const url = await link('/verify-account/email', { registrationId: id }, subject, { id: job.id, lifetimeMs })
    if (url === undefined) return undefined
    const letter = letters.verifyRegistration({ ...greeting(registration), url, lifetimeMs })
    return { to: registration.email, letter }
  }

  async function registrationDecided(id: number): Promise<Addressed> {
    const registration = await findRegistration(id)
    if (!registration) return undefined
    const { email, state, moderation_response: response } = registration
    const mail = { ...greeting(registration), response: response ?? '' }
    if (state === 'accepted') {
      return { to: email, letter: letters.registrationAccepted({ ...mail, url: `${urls.origin}/login` }) }
    }
    return state === 'rejected' ? { to: email, letter: letters.registrationRejected(mail) } : undefined
  }

  /** Nothing if it is reverted already. */
  async function block(id: number, isBlocked: boolean): Promise<Addressed> {
    const user = await findUser(id)
    if (!user || user.blocked !== isBlocked) return undefined
    const letter = isBlocked
      ? letters.userBlocked({ ...greeting(user), reason: user.blocked_reason })
      : letters.userUnblocked({ ...greeting(user), url: `${urls.origin}/login` })
    return { ...userOf(user), letter }
  }

  function notified(mailed: Mailed | undefined, job: JobContext): Addressed {
    if (!mailed) return undefined
    const { userId, setting, to, language, notices } = mailed
    const unsubscribe = unsubscribeUrl(deps, { userId, setting }, to)
    const thread = threadOf(notices)
    return {
      to,
      language,
      unsubscribe,
      sent: () => batches.sent(job.id),
      letter: noticeLetter(mailed, { origin: urls.origin, unsubscribe }),
      ...(thread === undefined ? {} : { thread }),
    }
  }

  /** Nothing if it is deleted, or requested again. */
  async function exported(id: number): Promise<Addressed> {
    const [found] = await db.query<Columns<User, 'username' | 'email' | 'language'> & { state: string }>(
      `select u.username, u.email, u.language, e.state from user_export e join users u on u.id = e.user_id
       where e.id = $1 and e.state in ('completed', 'errored') and u.state <> 'deleted'`,
      [id],
    )
    if (!found) return undefined
    const write = found.state === 'completed' ? letters.exportReady : letters.exportFailed
    return { ...userOf(found), letter: write({ ...greeting(found), url: `${urls.origin}${clientPages.exports}` }) }
  }

  async function userImported(id: number): Promise<Addressed> {
    const [found] = await db.query<ImportedRow>(
      `select u.username, u.email, u.language, i.state, i.context->>'error' as error,
         coalesce(sum((c->>'success')::int), 0)::int as success, coalesce(sum((c->>'duplicates')::int), 0)::int as duplicates,
         coalesce(sum((c->>'errors')::int), 0)::int as errors
       from user_import i join users u on u.id = i.user_id left join jsonb_each(i.summary) as p (name, c) on true
       where i.id = $1 and u.state <> 'deleted' group by i.id, u.id`,
      [id],
    )
    if (!found) return undefined
    const { state, error, success, duplicates, errors } = found
    const page = { ...greeting(found), url: `${urls.origin}${clientPages.exports}` }
    if (state === 'completed') return { ...userOf(found), letter: letters.importCompleted({ ...page, success, duplicates, errors }) }
    return state === 'errored' ? { ...userOf(found), letter: letters.importFailed({ ...page, reason: error ?? '' }) } : undefined
  }

  /** The text is deleted after sending. */
  async function contactForm(id: number): Promise<Addressed> {
    const [message] = await db.query<ContactRow>('select from_name, from_email, subject, body from contact_message where id = $1', [id])
    if (!message) return undefined
    const { from_name: name, from_email: email, subject, body } = message
    return {
      to: config().admin.email,
      replyTo: email,
      letter: letters.contactForm({ name, email, subject, body, instanceName: config().instance.name }),
      sent: () => removeContactMessage(db.query, id),
    }
  }

  /** Nothing if the plugin works again. */
  async function pluginFailed(id: number): Promise<Addressed> {
    const [plugin] = await db.query<{ name: string; failure: string }>(
      "select npm_name as name, failure from plugin where id = $1 and state = 'failed' and failure is not null",
      [id],
    )
    if (!plugin) return undefined
    return {
      to: config().admin.email,
      letter: letters.pluginFailed({ ...plugin, instanceName: config().instance.name, url: `${urls.origin}/admin/plugins` }),
    }
  }

  /** A page of the web client with a new secret. */
  async function link(
    path: string,
    query: Record<string, number>,
    subject: LinkSubject,
    mail: { id: number; lifetimeMs: number },
  ): Promise<string | undefined> {
    const secret = await links.make(subject, mail)
    if (secret === undefined) return undefined
    const pairs = Object.entries({ ...query, verificationString: secret }).map(([name, value]) => `${name}=${value}`)
    return `${urls.origin}${path}?${pairs.join('&')}`
  }

  const userOf = ({ email, language }: { email: string; language: string | null }) => ({ to: email, language })
  const greeting = ({ username }: { username: string }) => ({ username, instanceName: config().instance.name })

  async function findUser(id: number): Promise<UserRow | undefined> {
    const [user] = await db.query<UserRow>(
      `select username, email, language, email_verified, pending_email, password_hash, blocked, blocked_reason
       from users where id = $1 and state <> 'deleted'`,
      [id],
    )
    return user
  }

  async function findRegistration(id: number): Promise<RegistrationRow | undefined> {
    const [registration] = await db.query<RegistrationRow>(
      'select username, email, state, registration_reason, moderation_response from registration where id = $1',
      [id],
    )
    return registration
  }
}

type UserRow = Columns<User, 'username' | 'email' | 'language' | 'emailVerified' | 'pendingEmail' | 'passwordHash' | 'blocked'> &
  Columns<User, 'blockedReason'>

type RegistrationRow = Columns<Registration, 'username' | 'email' | 'state' | 'registrationReason' | 'moderationResponse'>

interface ImportedRow extends Columns<User, 'username' | 'email' | 'language'>, Columns<typeof UserImport, 'state'> {
  error: string | null
  success: number
  duplicates: number
  errors: number
}

type ContactRow = Columns<typeof ContactMessage, 'fromName' | 'fromEmail' | 'subject' | 'body'>
