// The pages of a web client: its single page in the right language for every address, filled with data about the address.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { forScript, Html, html, styleTag } from '../../platform/html.ts'
import type { PreparedConfig, ReadServerConfig } from '../config/prepared.ts'
import { threadIn } from '../pages/addresses.ts'
import { addAssets } from '../pages/assets.ts'
import { platformTag } from '../pages/heads/index.ts'
import { notFoundKind } from '../plugins/accept-constraint.ts'
import { clientIp } from '../plugins/client-ip.ts'
import { etagOf, isFresh } from '../plugins/conditional.ts'
import { HttpError } from '../plugins/http-error.ts'
import type { Area } from '../plugins/types.ts'
import type { BuiltClient } from './built-client.ts'
import { localeCookie, localeOf } from './locale-of.ts'
import { clientPolicy } from './policy.ts'
import { makeTargets, type Target, type TargetsDeps } from './targets.ts'
import { type Mark, sourceOf, type Template } from './template.ts'

export interface ClientPagesDeps extends TargetsDeps {
  client: BuiltClient
  serverConfig: ReadServerConfig
}

const hide = { hide: true } as const
const limits = { limits: ['client'] } as const
const ofId = { schema: { ...hide, params: z.object({ id: z.string() }) }, config: limits } as const
const ofName = { schema: { ...hide, params: z.object({ name: z.string() }) }, config: limits } as const
const ofEmbed = { ...ofId, config: { ...limits, frameguard: false } } as const

/** Adds the client's pages instead of the built-in ones, and the page of all other addresses. */
export function clientPagesArea(deps: ClientPagesDeps): Area {
  const { client, config, urls, serverConfig } = deps
  const targets = makeTargets(deps)
  const scriptOf = makeConfigScript()
  const secure = urls.origin.startsWith('https:')

  async function fill(request: FastifyRequest, template: Template, { title, description, tags }: Target['head']) {
    const { instance } = config()
    const { javascript, css } = instance.customizations
    const script = scriptOf(await serverConfig(clientIp(request)))
    const values: Partial<Record<Mark, Html>> = {
      'title tag': html`<title>${title}</title>`,
      'description tag': html`<meta name="description" content="${description}">`,
      ...(css === '' ? {} : { 'custom css tag': styleTag(css, 'custom-css-style') }),
      'meta tags': template.namesPlatform ? tags : html`${platformTag}${tags}`,
      'server config': script.tag,
    }
    return { body: template.fill(values), scripts: [...template.scripts, script.source], evaluates: javascript !== '' }
  }

  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    { template, target, framed = false }: { template: Template; target: Target; framed?: boolean },
  ): Promise<FastifyReply> {
    const { body, scripts, evaluates } = await fill(request, template, target.head)
    const { csp } = config()
    const reports = csp.enabled && csp.report_only
    const policy = clientPolicy({
      scripts,
      evaluates,
      framed,
      handlers: template.handlers,
      reportUri: csp.enabled ? csp.report_uri : null,
    })
    const etag = etagOf(body)
    reply.code(target.status).headers({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'max-age=0, no-cache, must-revalidate',
      vary: framed ? 'Accept' : 'Accept-Language, Accept, Cookie',
      etag,
      [reports ? 'content-security-policy-report-only' : 'content-security-policy']: policy,
      'referrer-policy': 'strict-origin-when-cross-origin',
    })
    if (framed || target.status === 404) reply.header('x-robots-tag', 'noindex')
    if (target.status === 200 && isFresh(request.headers['if-none-match'], etag)) return reply.code(304).send()
    return reply.send(body)
  }

  async function sendPage(request: FastifyRequest, reply: FastifyReply, target: Target): Promise<FastifyReply> {
    return await send(request, reply, { template: await client.page(localeOf(request, client.locales)), target })
  }

  async function sendEmbed(request: FastifyRequest, reply: FastifyReply, target: Target): Promise<FastifyReply> {
    return await send(request, reply, { template: await client.embed(), target, framed: true })
  }

  return (app) => {
    // Pages that mails link to are built in.
    addAssets(app)
    const { video, playlist, account, channel, actor } = targets
    for (const path of ['/w/:id', '/videos/watch/:id']) {
      app.get(path, ofId, async (request, reply) => {
        const { id } = request.params
        return await sendPage(request, reply, await video(threadIn(id)?.id ?? id))
      })
    }
    for (const path of ['/w/p/:id', '/videos/watch/playlist/:id']) {
      app.get(path, ofId, async (request, reply) => sendPage(request, reply, await playlist(request.params.id)))
    }
    for (const path of ['/a/:name', '/accounts/:name']) addActor(path, account)
    for (const path of ['/c/:name', '/video-channels/:name']) addActor(path, channel)
    addActor('/@:name', actor)
    app.get('/videos/embed/:id', ofEmbed, async (request, reply) =>
      sendEmbed(request, reply, await video(request.params.id, { embed: true })),
    )
    app.get('/video-playlists/embed/:id', ofEmbed, async (request, reply) =>
      sendEmbed(request, reply, await playlist(request.params.id, { embed: true })),
    )
    app.get('/*', { schema: hide, config: limits }, async (request, reply) => {
      const what = notFoundKind(request)
      if (what === 'nothing') return reply.callNotFound()
      if (what === 'unacceptable') throw new HttpError(406, 'There are only pages here.', { text: '' })
      const chosen = localeIn(request)
      if (chosen === undefined) return await sendPage(request, reply, targets.site())
      reply.header('set-cookie', localeCookie(chosen, { secure }))
      return await send(request, reply, { template: await client.page(chosen), target: targets.site() })
    })

    function addActor(path: string, find: (handle: string) => Promise<Target>): void {
      for (const address of [path, `${path}/*`]) {
        app.get(address, ofName, async (request, reply) => sendPage(request, reply, await find(request.params.name)))
      }
    }
  }

  /** The first segment of the address, to which a client's language menu links. */
  function localeIn({ url }: FastifyRequest): string | undefined {
    const [, first = ''] = (url.split('?', 1)[0] ?? '').split('/')
    return first.length <= 35 ? client.locales.named(first) : undefined
  }
}

/** Makes the script that contains the configuration for the client, with its hash; once per configuration. */
function makeConfigScript(): (prepared: PreparedConfig) => { tag: Html; source: string } {
  const made = new WeakMap<PreparedConfig, { tag: Html; source: string }>()
  return (prepared) => {
    const known = made.get(prepared)
    if (known) return known
    // A string of JSON, as clients parse it.
    const script = `window.PeerTubeServerConfig = ${forScript(JSON.stringify(prepared.body.toString()))}`
    const fresh = {
      tag: new Html(`<script type="application/javascript">${script}</script>`),
      source: sourceOf(script),
    }
    made.set(prepared, fresh)
    return fresh
  }
}
