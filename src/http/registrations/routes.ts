// Registration: `/users/register` and `/users/registrations`.

import { z } from 'zod'
import { listRegistrations, type Registrations } from '../../actors/registration/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { clientIp } from '../plugins/client-ip.ts'
import { listOf, paging, sorting } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { applicantOf, askBody, decisionBody, registerBody, registrationParam, requestBody, verificationString } from './fields.ts'
import { registrationView, toRegistrationView } from './views.ts'

const TAGS = ['Register']

export function registrationsArea(deps: { db: Database; config: () => Config; registrations: Registrations }): Area {
  const { db, config, registrations } = deps
  const manage = { right: 'MANAGE_REGISTRATIONS' } as const

  return (app) => {
    app.post(
      '/api/v1/users/register',
      {
        config: { limits: ['signup'] },
        schema: { tags: TAGS, body: registerBody, response: { 204: z.null() } },
      },
      async (request, reply) => {
        await registrations.assertOpen('direct', clientIp(request))
        await registrations.register(applicantOf(request.body))
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/api/v1/users/registrations/request',
      {
        config: { limits: ['signup'] },
        schema: { tags: TAGS, body: requestBody, response: { 200: registrationView } },
      },
      async (request) => {
        await registrations.assertOpen('request', clientIp(request))
        if (!config().signup.requires_approval) {
          throw new DomainError('invalid', 'Signup approval is not enabled on this instance')
        }
        const { registrationReason: reason, ...body } = request.body
        return toRegistrationView(await registrations.request({ ...applicantOf(body), reason }))
      },
    )

    app.get(
      '/api/v1/users/registrations',
      {
        config: manage,
        schema: {
          tags: TAGS,
          querystring: z.object({
            ...paging(config()),
            sort: sorting(['createdAt', 'state'], '-createdAt'),
            search: z.string().max(500).optional(),
          }),
          response: { 200: listOf(registrationView) },
        },
      },
      async ({ query: { sort, ...query } }) => {
        const { total, rows } = await listRegistrations(db, {
          ...query,
          sort: { column: sort.by, descending: sort.descending },
        })
        return { total, data: rows.map(toRegistrationView) }
      },
    )

    for (const verb of ['accept', 'reject'] as const) {
      app.post(
        `/api/v1/users/registrations/:registrationId/${verb}`,
        {
          config: manage,
          schema: { tags: TAGS, params: registrationParam, body: decisionBody, response: { 204: z.null() } },
        },
        async ({ params, body }, reply) => {
          await registrations[verb](params.registrationId, {
            moderationResponse: body.moderationResponse,
            tell: body.preventEmailDelivery !== true,
          })
          return reply.code(204).send(null)
        },
      )
    }

    app.delete(
      '/api/v1/users/registrations/:registrationId',
      { config: manage, schema: { tags: TAGS, params: registrationParam, response: { 204: z.null() } } },
      async ({ params }, reply) => {
        await registrations.remove(params.registrationId)
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/api/v1/users/registrations/ask-send-verify-email',
      {
        config: { limits: ['ask_send_email'] },
        schema: { tags: TAGS, body: askBody, response: { 204: z.null() } },
      },
      async ({ body }, reply) => {
        await registrations.askToVerifyAgain(body.email)
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/api/v1/users/registrations/:registrationId/verify-email',
      {
        schema: {
          tags: TAGS,
          params: registrationParam,
          body: z.object({ verificationString }),
          response: { 204: z.null() },
        },
      },
      async ({ params, body }, reply) => {
        await registrations.verifyEmail(params.registrationId, body.verificationString)
        return reply.code(204).send(null)
      },
    )
  }
}
