// Plugins, which this version does not support: their lists are empty, none can be installed, and pages get no styles or translations of
// them.

import { z } from 'zod'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import { booleanText, coercedInteger, paging, sorting } from '../plugins/schemas.ts'
import type { App, Area } from '../plugins/types.ts'

const tags = ['Plugins']
const manage = { right: 'MANAGE_PLUGINS' } as const
const empty = z.object({ total: z.literal(0), data: z.tuple([]) })
const NOTHING = { total: 0 as const, data: [] as [] }

const npmName = z.string().regex(/^peertube-(?:plugin|theme)-[a-z0-9-]{1,50}$/, 'Should have the name of a plugin')
const params = z.object({ npmName })
const pluginType = coercedInteger({ min: 1, max: 2 }).optional()
const installBody = z.object({
  npmName: npmName.optional(),
  path: z.string().max(1000).optional(),
  pluginVersion: z.string().max(50).optional(),
})

/** Adds `/plugins` to the API, and `/plugins/global.css` and `/plugins/translations` for pages. */
export function serverPluginsArea({ config }: { config: () => Config }): Area {
  return (app) => {
    app.get(
      '/api/v1/plugins',
      {
        config: manage,
        schema: {
          tags,
          operationId: 'getPlugins',
          response: { 200: empty },
          querystring: z.object({
            ...paging(config()),
            pluginType,
            uninstalled: booleanText.optional(),
            sort: sorting(['name', 'createdAt', 'updatedAt'], '-createdAt'),
          }),
        },
      },
      async () => NOTHING,
    )

    app.get(
      '/api/v1/plugins/available',
      {
        config: manage,
        schema: {
          tags,
          operationId: 'getAvailablePlugins',
          response: { 200: empty },
          querystring: z.object({
            ...paging(config()),
            pluginType,
            search: z.string().max(500).optional(),
            currentPeerTubeEngine: z.string().max(50).optional(),
            sort: sorting(['npmName', 'popularity', 'trending'], '-trending'),
          }),
        },
      },
      async () => {
        if (!config().plugins.index.enabled) throw new DomainError('invalid', 'Plugin index is not enabled')
        return NOTHING
      },
    )

    addChanges(app)
    addPages(app)
  }
}

const missing = async (): Promise<never> => {
  throw notFound('Plugin not found')
}

function addChanges(app: App): void {
  const response = { 204: z.null() }
  app.get('/api/v1/plugins/:npmName', { config: manage, schema: { tags, params } }, missing)
  app.get('/api/v1/plugins/:npmName/registered-settings', { config: manage, schema: { tags, params } }, missing)
  app.get('/api/v1/plugins/:npmName/public-settings', { schema: { tags, params } }, missing)
  const settings = z.object({ settings: z.object({}).optional() }).nullish()
  app.put('/api/v1/plugins/:npmName/settings', { config: manage, schema: { tags, params, body: settings, response } }, missing)
  app.post(
    '/api/v1/plugins/install',
    { config: manage, schema: { tags, operationId: 'addPlugin', body: installBody, response } },
    async () => {
      throw new DomainError('invalid', 'This version of the server cannot install plugins.')
    },
  )
  app.post(
    '/api/v1/plugins/update',
    { config: manage, schema: { tags, operationId: 'updatePlugin', body: installBody, response } },
    missing,
  )
  app.post(
    '/api/v1/plugins/uninstall',
    { config: manage, schema: { tags, operationId: 'uninstallPlugin', body: z.object({ npmName }), response } },
    missing,
  )
}

/** What web clients load with each page. */
function addPages(app: App): void {
  app.get('/plugins/global.css', { schema: { hide: true }, config: { limits: ['plugins'] } }, async (_request, reply) =>
    reply.headers({ 'cache-control': 'public, max-age=0', 'accept-ranges': 'bytes' }).type('text/css; charset=utf-8').send(''),
  )
  app.get(
    '/plugins/translations/:file',
    {
      schema: { hide: true, params: z.object({ file: z.string().regex(/^[A-Za-z0-9-]{1,35}\.json$/) }) },
      config: { limits: ['plugins'] },
    },
    async () => ({}),
  )
}
