// Registration without a script: directly, or with a request that moderators approve. The fields, rules and commands are those of the API.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../actors/runtime/index.ts'
import { isMailEnabled } from '../../config/index.ts'
import { type Localized, recognized, t } from '../../platform/language.ts'
import { clientIp } from '../plugins/client-ip.ts'
import { invalidParamsOf } from '../plugins/invalid-params.ts'
import { applicantOf, registerBody, requestBody } from '../registrations/fields.ts'
import { loggedInBody, type SignupTyped, signupBody, signupClosedBody, signupDoneBody } from './bodies/signup.ts'
import { type Field, formOf } from './fields.ts'
import { type PageTools, pageOptions } from './send.ts'

const PATH = '/signup'
const TITLE = t('Sign up')
/** Invalid attempts do not count, as in the API: see the statuses below. */
const attempts = { ...pageOptions, config: { limits: ['client', 'signup'] } } as const

const STATUS: Partial<Record<DomainError['kind'], number>> = { invalid: 400, conflict: 409 }

interface Problems {
  status: number
  /** Names of invalid fields. */
  wrong?: ReadonlySet<string>
  /** A problem that is not about a field. */
  problem?: Localized
}

export function addSignupPages({ app, config, visitors, registrations, send }: PageTools): void {
  const needsApproval = (): boolean => config().signup.requires_approval

  /** The reason why registration is closed, in general or for the requester; undefined if it is open. */
  async function closedTo(request: FastifyRequest): Promise<string | undefined> {
    try {
      await registrations.assertOpen(needsApproval() ? 'request' : 'direct', clientIp(request))
      return undefined
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'forbidden') return error.message
      throw error
    }
  }

  const answer = (
    request: FastifyRequest,
    reply: FastifyReply,
    { status = 200, body }: { status?: number; body: ReturnType<typeof signupBody> },
  ): FastifyReply => send(request, reply, { status, title: TITLE, body, isPrivate: true })

  const showForm = (
    request: FastifyRequest,
    reply: FastifyReply,
    typed: SignupTyped,
    { status, wrong = new Set(), problem }: Problems = { status: 200 },
  ): FastifyReply => {
    const { minimum_age: minimumAge, requires_email_verification: verifiesEmail } = config().signup
    const body = signupBody({
      typed,
      wrong,
      problem,
      minimumAge,
      verifiesEmail,
      needsApproval: needsApproval(),
      token: visitors.formToken(request, reply),
    })
    return answer(request, reply, { status, body })
  }

  app.get(PATH, pageOptions, async (request, reply) => {
    const visit = await visitors.of(request)
    if (visit) return answer(request, reply, { body: loggedInBody(visit.user.username) })
    const closed = await closedTo(request)
    return closed === undefined ? showForm(request, reply, {}) : answer(request, reply, { body: signupClosedBody(closed) })
  })

  app.post(PATH, attempts, async (request, reply) => {
    const field = formOf(request)
    visitors.refuseForged(request, field('token'))
    const closed = await closedTo(request)
    if (closed !== undefined) return answer(request, reply, { status: 403, body: signupClosedBody(closed) })
    const typed = typedIn(field)
    const read = readForm(typed, needsApproval())
    const wrong = new Set([...read.wrong, ...(field('terms') === 'yes' ? [] : ['terms'])])
    if (!read.data || wrong.size > 0) return showForm(request, reply, typed, { status: 400, wrong })
    try {
      const { registrationReason: reason, ...fields } = read.data
      const applicant = applicantOf(fields)
      if (reason === undefined) await registrations.register(applicant)
      else await registrations.request({ ...applicant, reason })
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      // The last place was taken meanwhile.
      if (error.kind === 'forbidden') return answer(request, reply, { status: 403, body: signupClosedBody(error.message) })
      const status = STATUS[error.kind]
      if (status === undefined) throw error
      return showForm(request, reply, typed, { status, problem: recognized(error.message) })
    }
    const body = signupDoneBody({
      email: read.data.email,
      verifiesEmail: config().signup.requires_email_verification,
      needsApproval: read.data.registrationReason !== undefined,
      sendsMail: isMailEnabled(config()),
    })
    return answer(request, reply, { body })
  })
}

const typedIn = (field: Field): SignupTyped & { password?: string | undefined } => ({
  username: field('username')?.trim(),
  email: field('email')?.trim(),
  password: field('password'),
  displayName: field('displayName')?.trim(),
  channelName: field('channelName')?.trim(),
  channelDisplayName: field('channelDisplayName')?.trim(),
  registrationReason: field('registrationReason')?.trim(),
})

/** Names in the form that differ from the API. */
const FORM_NAMES: Readonly<Record<string, string>> = {
  'channel.name': 'channelName',
  'channel.displayName': 'channelDisplayName',
}

const withReason = requestBody
const withoutReason = registerBody.extend({ registrationReason: requestBody.shape.registrationReason.optional() })

/** The API body of the form, or all its invalid fields. */
function readForm(typed: ReturnType<typeof typedIn>, needsApproval: boolean) {
  const { channelName, channelDisplayName, registrationReason, displayName, ...fields } = typed
  const hasChannel = Boolean(channelName || channelDisplayName)
  const body = {
    ...fields,
    displayName: displayName || undefined,
    channel: hasChannel ? { name: channelName, displayName: channelDisplayName || channelName } : undefined,
    registrationReason: needsApproval ? registrationReason : undefined,
  }
  const schema = needsApproval ? withReason : withoutReason
  const wrong = new Set(invalidParamsOf(schema, 'body', body).map(({ name }) => FORM_NAMES[name] ?? name))
  // Both are actors.
  if (hasChannel && channelName === fields.username) wrong.add('channelName')
  return { wrong, data: wrong.size > 0 ? undefined : schema.safeParse(body).data }
}
