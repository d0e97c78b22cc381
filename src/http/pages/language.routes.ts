// The choice of language and theme at the foot of every page: for this browser, and the language for the user's logins with others.

import type { FastifyRequest } from 'fastify'
import { DomainError } from '../../actors/runtime/index.ts'
import { languageOfTag } from '../../platform/languages.ts'
import { localPath } from '../plugins/local-path.ts'
import { formOf } from './fields.ts'
import { themes } from './layout.ts'
import { type PageTools, pageOptions } from './send.ts'

export function addLanguageChoice({ app, urls, visitors, updateMe }: PageTools): void {
  /** The page with the buttons. It cannot name itself in them, because visitors share it. */
  function pageBefore({ headers }: FastifyRequest): string {
    const url = URL.parse(headers.referer ?? '')
    return url?.origin === urls.origin ? localPath(`${url.pathname}${url.search}`) : '/'
  }

  app.post('/language', pageOptions, async (request, reply) => {
    visitors.refuseForeign(request)
    const language = languageOfTag(formOf(request)('language'))
    if (!language) throw new DomainError('invalid', 'There are no pages in this language.')
    visitors.choose(reply, 'language', language.tag)
    const visit = await visitors.of(request)
    if (visit) await updateMe({ userId: visit.user.id, sessionId: visit.id }, { settings: { language: language.tag } })
    return reply.redirect(pageBefore(request), 303)
  })

  app.post('/theme', pageOptions, async (request, reply) => {
    visitors.refuseForeign(request)
    const theme = formOf(request)('theme') ?? ''
    if (!Object.hasOwn(themes, theme)) throw new DomainError('invalid', 'There is no such theme.')
    visitors.choose(reply, 'theme', theme)
    return reply.redirect(pageBefore(request), 303)
  })
}
