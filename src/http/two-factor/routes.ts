// Two-factor login of a user: `/users/:id/two-factor/…`.

import { z } from 'zod'
import type { TwoFactor } from '../../actors/two-factor/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { idText } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'

const params = z.object({ id: idText })

/** Required, except for administrators who act on another user. */
const passwordBody = z.object({ currentPassword: z.string().max(255).optional() }).nullish()

const confirmBody = z.object({ requestToken: z.string().min(1).max(255), otpToken: z.string().min(1).max(20) })

const requestView = z
  .object({ otpRequest: z.object({ requestToken: z.string(), secret: z.string(), uri: z.string() }) })
  .meta({ id: 'RequestTwoFactorResponse' })

const TAGS = ['Users']

export function twoFactorArea({ twoFactor }: { twoFactor: TwoFactor }): Area {
  const config = { auth: 'user' } as const
  return (app) => {
    app.post(
      '/api/v1/users/:id/two-factor/request',
      { config, schema: { tags: TAGS, params, body: passwordBody, response: { 200: requestView } } },
      async (request, reply) => {
        const otpRequest = await twoFactor.request({
          by: sessionOf(request).user,
          userId: request.params.id,
          currentPassword: request.body?.currentPassword,
        })
        reply.header('cache-control', 'no-store')
        return { otpRequest }
      },
    )

    app.post(
      '/api/v1/users/:id/two-factor/confirm-request',
      { config, schema: { tags: TAGS, params, body: confirmBody, response: { 204: z.null() } } },
      async (request, reply) => {
        const { requestToken, otpToken } = request.body
        await twoFactor.confirm({
          by: sessionOf(request).user,
          userId: request.params.id,
          requestToken,
          code: otpToken,
        })
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/api/v1/users/:id/two-factor/disable',
      { config, schema: { tags: TAGS, params, body: passwordBody, response: { 204: z.null() } } },
      async (request, reply) => {
        await twoFactor.disable({
          by: sessionOf(request).user,
          userId: request.params.id,
          currentPassword: request.body?.currentPassword,
        })
        return reply.code(204).send(null)
      },
    )
  }
}
