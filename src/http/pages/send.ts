// Sends a page: its frame, its tag for conditional requests, and its policy.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { etagOf, isFresh } from '../plugins/conditional.ts'
import type { App } from '../plugins/types.ts'
import type { Here } from '../videos/actor.view.ts'
import type { Assets } from './assets.ts'
import { missingBody } from './bodies/missing.ts'
import { contentSecurityPolicy, layout, type Page } from './layout.ts'
import { type Site, siteOf } from './site.ts'

export interface PagesDeps {
  db: Database
  config: () => Config
  urls: Here
}

export interface Answer extends Page {
  status?: number
  /** Other servers that the page's media come from. */
  origins?: readonly string[]
}

/** What the routes of each page are given. */
export interface PageTools extends PagesDeps {
  app: App
  site: () => Site
  send(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply
  sendMissing(request: FastifyRequest, reply: FastifyReply, embed?: boolean): FastifyReply
}

/** Options of a page's route that has no parameters. */
export const pageOptions = { schema: { hide: true }, config: { limits: ['client'] } } as const

export function makePageTools(app: App, deps: PagesDeps, assets: Assets): PageTools {
  const site = () => siteOf(deps.config())

  const send: PageTools['send'] = (request, reply, { status = 200, origins = [], ...page }) => {
    const body = layout(page, site(), assets)
    const etag = etagOf(body)
    const framed = page.embed === true
    reply.code(status).headers({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'max-age=0, no-cache, must-revalidate',
      vary: 'Accept',
      etag,
      'content-security-policy': contentSecurityPolicy({ origins, framed, forms: !framed }),
      'referrer-policy': 'strict-origin-when-cross-origin',
    })
    if (status === 200 && isFresh(request.headers['if-none-match'], etag)) return reply.code(304).send()
    return reply.send(body)
  }

  const sendMissing: PageTools['sendMissing'] = (request, reply, embed = false) =>
    send(request, reply, { status: 404, title: 'Not found', body: missingBody(), embed })

  return { ...deps, app, site, send, sendMissing }
}
