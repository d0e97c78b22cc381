// The pages' own scripts and styles: read once, addressed by content hash, so that browsers cache them.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import Negotiator from 'negotiator'
import { sha256 } from '../../platform/ids.ts'
import { etagOf, isFresh } from '../plugins/conditional.ts'
import type { App } from '../plugins/types.ts'

const require = createRequire(import.meta.url)

export type Assets = ReturnType<typeof addAssets>

interface Asset {
  path: string
  type: string
  body: Buffer
  etag: string
}

/** Adds the routes of the assets; returns their paths. */
export function addAssets(app: App) {
  const style = styleSheet()
  const player = asset('player.js', 'text/javascript; charset=utf-8', Buffer.concat([read('player-times.js'), read('player.js')]))
  const page = asset('page.js', 'text/javascript; charset=utf-8', Buffer.concat([read('uploads.js'), read('page.js')]))
  const hls = asset('hls.js', 'text/javascript; charset=utf-8', readFileSync(require.resolve('hls.js/dist/hls.min.js')))
  for (const one of [style, player, hls, page]) serve(app, one)
  // A worker for all pages has to be at the root, at the same address for ever.
  serve(app, { ...asset('push.js', 'text/javascript; charset=utf-8', read('push-worker.js')), path: '/push-worker.js' }, 'no-cache')
  return { style: style.path, player: player.path, hls: hls.path, page: page.path }
}

export const stylePath = (): string => styleSheet().path

/** Concatenated in this order. */
const STYLES = ['base', 'frame', 'videos', 'player', 'embed', 'watch', 'comments', 'browse', 'screens']

const styleSheet = (): Asset =>
  asset('style.css', 'text/css; charset=utf-8', Buffer.concat(STYLES.map((name) => read(`style/${name}.css`))))

const read = (path: string): Buffer => readFileSync(new URL(`assets/${path}`, import.meta.url))

function asset(name: string, type: string, body: Buffer): Asset {
  const [stem, extension] = name.split('.')
  const version = sha256(body.toString()).toString('hex').slice(0, 12)
  return { path: `/assets/${stem}-${version}.${extension}`, type, body, etag: etagOf(body) }
}

function serve(app: App, { path, type, body, etag }: Asset, caching = 'public, max-age=31536000, immutable'): void {
  // Compressed on the first request that accepts it: the HLS player shrinks to a third.
  let packed: Promise<Buffer> | undefined
  app.get(path, { schema: { hide: true }, config: { limits: false } }, async (request, reply) => {
    const accepted = new Negotiator({ headers: { 'accept-encoding': request.headers['accept-encoding'] } })
    const isPacked = accepted.encoding(['gzip', 'identity']) === 'gzip'
    reply.headers({ 'cache-control': caching, vary: 'accept-encoding' })
    reply.header('etag', isPacked ? `W/${etag}` : etag)
    if (isFresh(request.headers['if-none-match'], etag)) return reply.code(304).send()
    reply.header('content-type', type)
    if (!isPacked) return reply.send(body)
    packed ??= pack(body)
    return reply.header('content-encoding', 'gzip').send(await packed)
  })
}

const pack = promisify<Buffer, Buffer>(gzip)
