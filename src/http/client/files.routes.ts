// `/client/*`: the files of the web client, replacements by an administrator, and built-in pictures if neither has one. Also the files that
// a client needs at the root: its service worker.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import { realFolder } from '../../platform/folder.ts'
import { acceptConstraint } from '../plugins/accept-constraint.ts'
import { isFresh } from '../plugins/conditional.ts'
import { HttpError } from '../plugins/http-error.ts'
import type { Area } from '../plugins/types.ts'
import { parseRange } from '../static/byte-range.ts'
import { sendFromFolder } from '../static/send-from-folder.ts'
import type { BuiltClient } from './built-client.ts'
import type { DefaultImages, Picture } from './default-images.ts'
import { localeOf } from './locale-of.ts'

export interface ClientFilesDeps {
  config: () => Config
  images: DefaultImages
  /** Undefined if the built-in pages are served. */
  client: Pick<BuiltClient, 'root' | 'locales'> | undefined
}

/** Pages are templates that are served, filled, at their own addresses; the raw files are useless. */
const PAGE = /(?:^|\/)(?:index|embed)\.html$/
/** Translations of labels of the server, such as categories, and of the player. */
const WORDS = /^locales\/([A-Za-z0-9-]{1,35})\/(server|player)\.json$/
/** Browsers must get the latest version of these files, or an old client would stay installed. */
const WORKERS = ['ngsw-worker.js', 'ngsw.json', 'safety-worker.js', 'worker-basic.min.js'] as const
const DEFAULT_AVATAR = /\/default-avatar-/
const ALWAYS_ASK = 'no-cache'
const REFUSALS = { 404: '' }

/** Adds `/client/*`, `/favicon.ico` and the addresses of service workers. */
export function clientFilesArea({ config, images, client }: ClientFilesDeps): Area {
  const keptFor = () => `public, max-age=${Math.floor(config().vireo.caching.static.client / 1000)}`

  /** Files with a content hash or a version in their address never change. */
  function cachingOf(path: string, request: FastifyRequest): string {
    if (isHashed(path)) return `${keptFor()}, immutable`
    return request.url.includes('?') ? keptFor() : ALWAYS_ASK
  }

  /** Those of the instance may change soon. */
  function sendPicture(request: FastifyRequest, reply: FastifyReply, { body, etag, type }: Picture): FastifyReply {
    const isLasting = request.url.includes('?') || DEFAULT_AVATAR.test(request.url)
    const cacheControl = isLasting ? keptFor() : 'public, max-age=3600'
    reply.headers({ etag, 'cache-control': cacheControl, 'accept-ranges': 'bytes' })
    const { 'if-none-match': known, 'if-range': version, range: asked } = request.headers
    if (isFresh(known, etag)) return reply.code(304).send()
    const range = version === undefined || version === etag ? parseRange(asked, body.length) : 'whole'
    if (range === 'unsatisfiable') {
      throw new HttpError(416, 'Range Not Satisfiable', { headers: { 'content-range': `bytes */${body.length}` } })
    }
    reply.header('content-type', type)
    if (range === 'whole') return reply.send(body)
    const { start, end } = range
    return reply
      .code(206)
      .header('content-range', `bytes ${start}-${end}/${body.length}`)
      .send(body.subarray(start, end + 1))
  }

  /** Builds have them as `locale/server.fr-FR.json`. A page whose language has none still waits for a response. */
  async function sendWords(
    request: FastifyRequest,
    reply: FastifyReply,
    { root, locales }: Pick<BuiltClient, 'root' | 'locales'>,
    { locale, file }: { locale: string; file: string },
  ): Promise<FastifyReply> {
    const cacheControl = `public, max-age=${Math.floor(config().vireo.caching.static.server / 1000)}`
    const known = locales.nearest(locale)
    for (const name of known === undefined ? [locale] : [locale, known]) {
      if (await sendFromFolder(request, reply, { root, path: `locale/${file}.${name}.json`, cacheControl })) return reply
    }
    if (known === undefined) throw notFound('The language is unknown.')
    return reply.header('cache-control', cacheControl).send({})
  }

  return (app) => {
    app.get<{ Params: { '*': string } }>(
      '/client/*',
      {
        schema: { hide: true },
        config: { limits: false, plainRefusals: REFUSALS },
      },
      async (request, reply) => {
        const path = request.params['*']
        const words = WORDS.exec(path)
        if (words && client) return await sendWords(request, reply, client, { locale: words[1] ?? '', file: words[2] ?? '' })
        const cacheControl = cachingOf(path, request)
        const overrides = await realFolder(config().storage.client_overrides)
        if (overrides && (await sendFromFolder(request, reply, { root: overrides, path, cacheControl }))) return reply
        const icon = await images.ofInstance(path)
        if (icon) return sendPicture(request, reply, icon)
        if (client && !PAGE.test(path)) {
          if (/(?:^|\/)ngsw-worker\.js$/.test(path)) reply.header('service-worker-allowed', '/')
          if (await sendFromFolder(request, reply, { root: client.root, path, cacheControl })) return reply
        }
        const own = await images.own(path)
        if (!own) throw notFound('There is nothing here.')
        return sendPicture(request, reply, own)
      },
    )

    // A request without an Accept header gets a page at this address, as clients of the reference expect.
    for (const asks of ['page', 'other'] as const) {
      app.get(
        '/favicon.ico',
        { schema: { hide: true }, config: { limits: ['client'] }, constraints: acceptConstraint(asks) },
        async (request, reply) => sendPicture(request, reply, await images.favicon()),
      )
    }

    for (const name of WORKERS) {
      app.get(`/${name}`, { schema: { hide: true }, config: { limits: ['client'] } }, async (request, reply) => {
        for (const path of client ? [name, `${localeOf(request, client.locales)}/${name}`] : []) {
          if (client && (await sendFromFolder(request, reply, { root: client.root, path, cacheControl: ALWAYS_ASK }))) return reply
        }
        // A service worker whose file is missing unregisters.
        throw notFound('There is nothing here.')
      })
    }
  }
}

/** True if the build put a content hash into the name, such as `main-5A7XQ2KD.js` or `index.0f3c9a1b2c.css`. */
export function isHashed(path: string): boolean {
  const hash = /[.-]([A-Za-z0-9_]{8,64})\.[a-z0-9]+(?:\.map)?$/.exec(path)?.[1]
  return hash !== undefined && /[0-9A-Z]/.test(hash) && !/^\d+x\d+$/.test(hash)
}
