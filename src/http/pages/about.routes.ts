// The about page, and the form for messages to the operator.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../actors/runtime/index.ts'
import { isMailEnabled } from '../../config/index.ts'
import { type Localized, listed, recognized, t } from '../../platform/language.ts'
import { contactBody as contactFields } from '../contact/routes.ts'
import { countedAddress } from '../plugins/rate-limit.ts'
import { aboutBody } from './bodies/about.ts'
import { contactBody, sentBody, unavailableBody } from './bodies/contact.ts'
import { formOf } from './fields.ts'
import { type PageTools, pageOptions } from './send.ts'

/** Labels of the form's fields, by their names in the API. */
const LABELS: Readonly<Record<string, Localized>> = {
  fromName: t('Your name'),
  fromEmail: t('Your e-mail address'),
  subject: t('Subject'),
  body: t('Message'),
}

export function addAboutPages({ app, config, urls, visitors, facts, contact, send }: PageTools): void {
  const isOpen = (): boolean => config().contact_form.enabled && isMailEnabled(config())

  for (const path of ['/about', '/about/instance']) {
    app.get(path, pageOptions, async (request, reply) => {
      const { instance } = config()
      const { banners } = await facts.recent()
      const body = aboutBody({ instance, banner: banners[0]?.filename, hasContact: isOpen(), here: urls })
      return send(request, reply, { title: t('About'), body })
    })
  }

  app.get('/about/contact', pageOptions, async (request, reply) => show(request, reply, { fields: {} }))

  app.post('/about/contact', pageOptions, async (request, reply) => {
    const field = formOf(request)
    visitors.refuseForged(request, field('token'))
    if (!isOpen()) return show(request, reply, { fields: {} })
    const fields = {
      fromName: field('fromName') ?? null,
      fromEmail: field('fromEmail') ?? '',
      subject: field('subject') ?? null,
      body: field('body') ?? '',
    }
    const { data, error } = contactFields.safeParse(fields)
    if (!data) {
      const wrong = [...new Set(error.issues.map(({ path }) => LABELS[String(path[0])] ?? String(path[0])))]
      return show(request, reply, { fields, status: 400, problem: t('Look again at: {fields}', { fields: listed(wrong) }) })
    }
    try {
      await contact.write({ ...data, subject: data.subject ?? null }, countedAddress(request))
    } catch (refusal) {
      if (!(refusal instanceof DomainError) || refusal.kind !== 'forbidden') throw refusal
      return show(request, reply, { fields, status: 403, problem: recognized(refusal.message) })
    }
    return send(request, reply, { title: t('Contact'), body: sentBody(), isPrivate: true })
  })

  function show(
    request: FastifyRequest,
    reply: FastifyReply,
    asked: { fields: Parameters<typeof contactBody>[0]['fields']; problem?: Localized; status?: number },
  ): FastifyReply {
    const { status = 200, fields, problem } = asked
    const body = isOpen()
      ? contactBody({ fields, problem, token: visitors.formToken(request, reply), name: config().instance.name })
      : unavailableBody()
    return send(request, reply, { status, title: t('Contact'), body, isPrivate: true })
  }
}
