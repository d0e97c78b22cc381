// Links in mails to users: they verify an address, or set a password.

import { z } from 'zod'
import type { EmailVerification, PasswordReset } from '../../actors/user/index.ts'
import { idText } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { askBody, verificationString } from '../registrations/fields.ts'
import { newPassword } from '../users/fields.ts'

const userParam = z.object({ id: idText })

export function userMailsArea(deps: { emailVerification: EmailVerification; passwordReset: PasswordReset }): Area {
  const { emailVerification, passwordReset } = deps
  return (app) => {
    app.post(
      '/api/v1/users/ask-send-verify-email',
      {
        config: { limits: ['ask_send_email'] },
        schema: { tags: ['Users'], body: askBody, response: { 204: z.null() } },
      },
      async ({ body }, reply) => {
        await emailVerification.askAgain(body.email)
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/api/v1/users/:id/verify-email',
      {
        schema: {
          tags: ['Users'],
          params: userParam,
          body: z.object({ verificationString, isPendingEmail: z.boolean().optional() }),
          response: { 204: z.null() },
        },
      },
      async ({ params, body }, reply) => {
        const { verificationString: secret, isPendingEmail } = body
        if (isPendingEmail) await emailVerification.verifyNewAddress(params.id, secret)
        else await emailVerification.verify(params.id, secret)
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/api/v1/users/ask-reset-password',
      { schema: { tags: ['Users'], body: askBody, response: { 204: z.null() } } },
      async ({ body }, reply) => {
        await passwordReset.ask(body.email)
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/api/v1/users/:id/reset-password',
      {
        schema: {
          tags: ['Users'],
          params: userParam,
          body: z.object({ verificationString, password: newPassword }),
          response: { 204: z.null() },
        },
      },
      async ({ params, body }, reply) => {
        await passwordReset.reset(params.id, body.verificationString, body.password)
        return reply.code(204).send(null)
      },
    )
  }
}
