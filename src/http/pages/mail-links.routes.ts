// Pages that mails link to: verification of an address, and a new password. Opening a link changes nothing, since mail scanners open links
// too; a button does. The commands are those of the API.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DomainError } from '../../actors/runtime/index.ts'
import { isMailEnabled } from '../../config/index.ts'
import type { Html } from '../../platform/html.ts'
import { LARGEST_ID } from '../../platform/ids.ts'
import { type Localized, t } from '../../platform/language.ts'
import { askBody as askFields, verificationString } from '../registrations/fields.ts'
import { newPassword } from '../users/fields.ts'
import {
  newPasswordBody,
  noMailBody,
  requestResetBody,
  resetBody,
  resetRequestedBody,
  uselessLinkBody,
  verifiedBody,
  verifyBody,
} from './bodies/mail-links.ts'
import { type Field, formOf, queryOf } from './fields.ts'
import { type PageTools, pageOptions } from './send.ts'

const rowId = z.coerce.number().int().min(1).max(LARGEST_ID)
const userLink = z.object({ userId: rowId, verificationString })
const addressLink = z.union([
  userLink.extend({ isPendingEmail: z.literal('true').optional().catch(undefined) }),
  z.object({ registrationId: rowId, verificationString }),
])

const VERIFY_PATH = '/verify-account/email'
const RESET_PATH = '/reset-password'
const ASK_RESET_PATH = '/login/ask-reset-password'

/** Limited like logins, against guessing of links. */
const attempts = { ...pageOptions, config: { limits: ['client', 'login'] } } as const
const mails = { ...pageOptions, config: { limits: ['client', 'ask_send_email'] } } as const

export function addMailLinkPages(tools: PageTools): void {
  const { app, config, visitors, emailVerification, passwordReset, registrations, send } = tools

  /** The addresses of these pages are secrets: they are sent to no other site, and the pages are not cached. */
  const answer = (request: FastifyRequest, reply: FastifyReply, page: { title: Localized; body: Html; status?: number }): FastifyReply =>
    send(request, reply, { ...page, isPrivate: true, isSecret: true })

  const useless = (request: FastifyRequest, reply: FastifyReply, what: 'address' | 'password') =>
    answer(request, reply, { status: 403, title: t('An old link'), body: uselessLinkBody(what) })

  app.get(VERIFY_PATH, pageOptions, async (request, reply) => {
    const { data } = addressLink.safeParse(linkOf(queryOf(request)))
    if (!data) return useless(request, reply, 'address')
    const body = verifyBody(data, visitors.formToken(request, reply))
    return answer(request, reply, { title: t('Your e-mail address'), body })
  })

  app.post(VERIFY_PATH, attempts, async (request, reply) => {
    const field = formOf(request)
    visitors.refuseForged(request, field('token'))
    const { data } = addressLink.safeParse(linkOf(field))
    if (!data) return useless(request, reply, 'address')
    try {
      if ('registrationId' in data) await registrations.verifyEmail(data.registrationId, data.verificationString)
      else if (data.isPendingEmail) await emailVerification.verifyNewAddress(data.userId, data.verificationString)
      else await emailVerification.verify(data.userId, data.verificationString)
    } catch (error) {
      if (isUseless(error)) return useless(request, reply, 'address')
      throw error
    }
    const body = verifiedBody({ waits: 'registrationId' in data })
    return answer(request, reply, { title: t('Your e-mail address'), body })
  })

  app.get(RESET_PATH, pageOptions, async (request, reply) => {
    const { data } = userLink.safeParse(linkOf(queryOf(request)))
    if (!data) return useless(request, reply, 'password')
    const body = newPasswordBody({ ...data, token: visitors.formToken(request, reply) })
    return answer(request, reply, { title: t('A new password'), body })
  })

  app.post(RESET_PATH, attempts, async (request, reply) => {
    const field = formOf(request)
    visitors.refuseForged(request, field('token'))
    const { data } = userLink.safeParse(linkOf(field))
    if (!data) return useless(request, reply, 'password')
    const { data: password } = newPassword.safeParse(field('password'))
    if (password === undefined) {
      const problem = t('A password has 6 to 255 characters.')
      const body = newPasswordBody({ ...data, token: visitors.formToken(request, reply), problem })
      return answer(request, reply, { status: 400, title: t('A new password'), body })
    }
    try {
      await passwordReset.reset(data.userId, data.verificationString, password)
    } catch (error) {
      if (isUseless(error)) return useless(request, reply, 'password')
      throw error
    }
    return answer(request, reply, { title: t('A new password'), body: resetBody() })
  })

  app.get(ASK_RESET_PATH, pageOptions, async (request, reply) => showAsk(request, reply, {}))

  // The response does not reveal whether the address is known.
  app.post(ASK_RESET_PATH, mails, async (request, reply) => {
    const field = formOf(request)
    visitors.refuseForged(request, field('token'))
    if (!isMailEnabled(config())) return showAsk(request, reply, {})
    const typed = field('email')?.trim() ?? ''
    const { data } = askFields.safeParse({ email: typed })
    if (!data) return showAsk(request, reply, { email: typed, status: 400, problem: t('This is no e-mail address.') })
    await passwordReset.ask(data.email)
    return answer(request, reply, { title: t('A new password'), body: resetRequestedBody(data.email) })
  })

  function showAsk(
    request: FastifyRequest,
    reply: FastifyReply,
    { status = 200, ...form }: { email?: string; problem?: Localized; status?: number },
  ): FastifyReply {
    const body = isMailEnabled(config()) ? requestResetBody({ ...form, token: visitors.formToken(request, reply) }) : noMailBody()
    return answer(request, reply, { status, title: t('A new password'), body })
  }
}

const linkOf = (field: Field) => ({
  userId: field('userId'),
  registrationId: field('registrationId'),
  verificationString: field('verificationString'),
  isPendingEmail: field('isPendingEmail'),
})

/** Used, expired or unknown: the page does not distinguish. */
const isUseless = (error: unknown): boolean => error instanceof DomainError && (error.kind === 'forbidden' || error.kind === 'not_found')
