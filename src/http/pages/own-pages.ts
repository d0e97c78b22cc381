// Pages and forms of the current user; others are redirected to the login, and back.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Visit } from '../../actors/session/index.ts'
import { type Html, html } from '../../platform/html.ts'
import { t } from '../../platform/language.ts'
import { type Field, formOf } from './fields.ts'
import { loginPath } from './local-path.ts'
import type { Api } from './screens/api.ts'
import { menuOf } from './screens/screens.ts'
import { type PageTools, pageOptions } from './send.ts'

export interface Asked {
  request: FastifyRequest
  reply: FastifyReply
  visit: Visit
}

export const ownPages = ({ app, visitors }: PageTools) => ({
  page(path: string, show: (asked: Asked) => Promise<FastifyReply>): void {
    app.get(path, pageOptions, async (request, reply) => {
      const visit = await visitors.of(request)
      return visit ? await show({ request, reply, visit }) : reply.redirect(loginPath(path), 303)
    })
  },

  /** A form that returns to `back`, unless `act` sends something else. */
  form({ path, back }: { path: string; back: string }, act: (asked: Asked, field: Field) => Promise<unknown>): void {
    app.post(path, pageOptions, async (request, reply) => {
      const field = formOf(request)
      visitors.refuseForged(request, field('token'))
      const visit = await visitors.of(request)
      if (!visit) return reply.redirect(loginPath(back), 303)
      await act({ request, reply, visit }, field)
      return reply.sent ? reply : reply.redirect(back, 303)
    })
  },
})

export const accountPage = (path: string, { visit, mayCall }: { visit: Visit; mayCall: Api['mayCall'] }, content: Html): Html =>
  html`<h1>${t('Your account')}</h1>
${menuOf({ path, menu: 'account' }, visit, (operation) => mayCall(visit, operation))}
${content}`
