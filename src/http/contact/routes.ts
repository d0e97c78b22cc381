// The contact form: `POST /server/contact`.

import { z } from 'zod'
import type { Contact } from '../../actors/contact/index.ts'
import { type Config, isMailEnabled } from '../../config/index.ts'
import { HttpError } from '../plugins/http-error.ts'
import { countedAddress } from '../plugins/rate-limit.ts'
import { readable } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { emailAddress } from '../users/fields.ts'

/** Characters. */
const LONGEST_SUBJECT = 300

/** Body of a message. */
const contactBody = z.object({
  fromName: readable(z.string().min(1).max(120)).nullable(),
  fromEmail: emailAddress,
  subject: z.string().max(LONGEST_SUBJECT).nullish(),
  body: readable(z.string().min(3).max(5000)),
})

export function contactArea({ config, contact }: { config: () => Config; contact: Contact }): Area {
  return (app) => {
    app.post(
      '/api/v1/server/contact',
      {
        schema: {
          operationId: 'contactAdministrator',
          tags: ['Contact'],
          body: contactBody,
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        if (!config().contact_form.enabled) throw new HttpError(409, 'The contact form of this server is switched off.')
        if (!isMailEnabled(config())) throw new HttpError(409, 'This server sends no mails.')
        const { fromName, fromEmail, subject = null, body } = request.body
        await contact.write({ fromName, fromEmail, subject, body }, countedAddress(request))
        return reply.code(204).send(null)
      },
    )
  }
}
