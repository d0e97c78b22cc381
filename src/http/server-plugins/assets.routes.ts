// The files of enabled plugins and themes, for web clients: below `/plugins` and `/themes`. A version in an address makes it immutable.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { ActivePlugins, PluginAssets, PluginRow } from '../../actors/plugin/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import { sendPrepared } from '../plugins/conditional.ts'
import type { Area } from '../plugins/types.ts'
import { sendFromFolder } from '../static/send-from-folder.ts'

const options = { schema: { hide: true }, config: { limits: ['plugins'] } } as const
const params = z.object({ name: z.string().max(214), version: z.string().max(100), '*': z.string().max(1000) })

/** The path of a file in the package; undefined if the plugin does not offer it. */
type Locate = (plugin: PluginRow, path: string) => string | undefined

const inStaticDirs: Locate = ({ manifest: { staticDirs } }, path) => {
  const [endpoint = '', ...rest] = path.split('/')
  return Object.hasOwn(staticDirs, endpoint) && rest.length > 0 ? `${staticDirs[endpoint]}/${rest.join('/')}` : undefined
}
const inScripts: Locate = ({ manifest }, path) => manifest.clientScripts.find(({ script }) => script === path)?.script
const inStyles: Locate = ({ manifest }, path) => manifest.css.find((one) => one === path)

const FILES: readonly [prefix: string, folder: string, locate: Locate][] = [
  ['plugin', 'static', inStaticDirs],
  ['plugin', 'client-scripts', inScripts],
  ['theme', 'static', inStaticDirs],
  ['theme', 'client-scripts', inScripts],
  ['theme', 'css', inStyles],
]

export function pluginAssetsArea(deps: { config: () => Config; activePlugins: ActivePlugins; pluginAssets: PluginAssets }): Area {
  const { config, activePlugins, pluginAssets } = deps

  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    find: { npmName: string; version: string; path: string; locate: Locate },
  ) {
    const plugin = await activePlugins.find(find)
    const path = plugin && find.locate(plugin, find.path)
    if (!plugin || path === undefined) throw notFound('There is nothing here.')
    const cacheControl = `public, max-age=${Math.floor(config().vireo.caching.static.client / 1000)}, immutable`
    const root = await activePlugins.folderOf(plugin)
    if (!(await sendFromFolder(request, reply, { root, path, cacheControl }))) throw notFound('There is nothing here.')
    return reply
  }

  return (app) => {
    for (const [kind, folder, locate] of FILES) {
      app.get(`/${kind}s/:name/:version/${folder}/*`, { ...options, schema: { hide: true, params } }, (request, reply) => {
        const { name, version, '*': path } = request.params
        return send(request, reply, { npmName: `peertube-${kind}-${name}`, version, path, locate })
      })
    }

    app.get('/plugins/global.css', options, async (request, reply) => {
      reply.headers({ 'cache-control': 'public, max-age=0', 'accept-ranges': 'bytes' })
      return sendPrepared(request, reply, { ...(await pluginAssets.globalCss()), contentType: 'text/css; charset=utf-8' })
    })

    app.get(
      '/plugins/translations/:file',
      { ...options, schema: { hide: true, params: z.object({ file: z.string().regex(/^[A-Za-z0-9-]{1,35}\.json$/) }) } },
      async (request) => await pluginAssets.translations(request.params.file.slice(0, -'.json'.length)),
    )
  }
}
