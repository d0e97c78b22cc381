// Plugins and themes of the server, for administrators: `/plugins`. Their files are in assets.routes.ts.

import { z } from 'zod'
import {
  EXACT_VERSION,
  findPlugin,
  findPluginSettings,
  LONGEST_NPM_NAME,
  listPlugins,
  NPM_NAME,
  type PluginRegistry,
  type Plugins,
  pluginTypes,
  type Settings,
  shortName,
  typeOf,
  unknownPlugin,
} from '../../actors/plugin/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { sessionOf } from '../plugins/auth.ts'
import { booleanText, coercedInteger, listOf, paging, sorting } from '../plugins/schemas.ts'
import type { App, Area } from '../plugins/types.ts'
import {
  indexedView,
  pluginView,
  publicSettings,
  publicSettingsView,
  registeredSettingsView,
  settingsBody,
  settingValues,
  toPluginView,
} from './views.ts'

const tags = ['Plugins']
const manage = { right: 'MANAGE_PLUGINS' } as const

const npmName = z.string().max(LONGEST_NPM_NAME).regex(NPM_NAME, 'Should have the name of a plugin')
const params = z.object({ npmName })
const types = new Map(Object.values(pluginTypes).map((type) => [Number(type), type]))
const pluginType = coercedInteger({ min: 1, max: 2 }).optional()
const exactVersion = z.string().regex(EXACT_VERSION, 'Should have an exact version such as 1.2.3')
const installBody = z.object({
  npmName: npmName.optional(),
  path: z.string().max(1000).optional(),
  pluginVersion: exactVersion.optional(),
  /** Of the administrator. */
  currentPassword: z.string().max(255).optional(),
})
const done = { 204: z.null() }

export interface ServerPluginsDeps {
  config: () => Config
  db: Database
  secrets: Pick<Secrets, 'open'>
  plugins: Plugins
  pluginRegistry: Pick<PluginRegistry, 'search'>
}

/** Adds `/plugins` to the API. */
export function serverPluginsArea(deps: ServerPluginsDeps): Area {
  return (app) => {
    addLists(app, deps)
    addSettings(app, deps)
    addChanges(app, deps)
  }
}

const opened = (secrets: Pick<Secrets, 'open'>, sealed: string | null): Settings =>
  sealed === null ? {} : (JSON.parse(secrets.open(sealed)) as Settings)

function addLists(app: App, { config, db, secrets, pluginRegistry }: ServerPluginsDeps): void {
  app.get(
    '/api/v1/plugins',
    {
      config: manage,
      schema: {
        tags,
        operationId: 'getPlugins',
        response: { 200: listOf(pluginView) },
        querystring: z.object({
          ...paging(config()),
          pluginType,
          uninstalled: booleanText.optional(),
          sort: sorting(['name', 'createdAt', 'updatedAt'], '-createdAt'),
        }),
      },
    },
    async ({ query: { pluginType: type, uninstalled = false, ...query } }) => {
      const { total, rows } = await listPlugins(db, { ...query, type: types.get(type ?? 0), uninstalled })
      return { total, data: rows.map((row) => toPluginView(row, opened(secrets, row.settings_sealed))) }
    },
  )

  app.get(
    '/api/v1/plugins/available',
    {
      config: manage,
      schema: {
        tags,
        operationId: 'getAvailablePlugins',
        response: { 200: listOf(indexedView) },
        querystring: z.object({
          ...paging(config()),
          pluginType,
          search: z.string().max(500).optional(),
          currentPeerTubeEngine: exactVersion.optional(),
          sort: sorting(['npmName', 'popularity', 'trending'], '-trending'),
        }),
      },
    },
    async ({ query: { pluginType: type, sort, ...query } }) => {
      const { enabled, index } = config().plugins
      if (!index.enabled) throw new DomainError('invalid', 'Plugin index is not enabled')
      // The server asks no other site for what it could not install.
      if (!enabled) return { total: 0, data: [] }
      const [found, installed] = await Promise.all([
        pluginRegistry.search({ ...query, pluginType: types.get(type ?? 0), sort: `${sort.descending ? '-' : ''}${sort.by}` }),
        db.query<{ npm_name: string }>(`select npm_name from plugin where state <> 'uninstalled'`),
      ])
      const names = new Set(installed.map((row) => row.npm_name))
      const data = found.data.map((one) => ({
        ...one,
        name: shortName(one.npmName),
        type: typeOf(one.npmName),
        installed: names.has(one.npmName),
      }))
      return { total: found.total, data }
    },
  )

  app.get(
    '/api/v1/plugins/:npmName',
    { config: manage, schema: { tags, operationId: 'getPlugin', params, response: { 200: pluginView } } },
    async (request) => {
      const row = await findPlugin(db, request.params.npmName)
      if (!row) throw unknownPlugin()
      return toPluginView(row, opened(secrets, row.settings_sealed))
    },
  )
}

function addSettings(app: App, { db, secrets, plugins }: ServerPluginsDeps): void {
  app.get(
    '/api/v1/plugins/:npmName/registered-settings',
    { config: manage, schema: { tags, params, response: { 200: registeredSettingsView } } },
    async (request) => {
      const found = await findPluginSettings(db.query, request.params.npmName)
      if (!found) throw unknownPlugin()
      return { registeredSettings: found.registered }
    },
  )

  app.get(
    '/api/v1/plugins/:npmName/public-settings',
    { schema: { tags, params, response: { 200: publicSettingsView } } },
    async (request) => {
      const found = await findPluginSettings(db.query, request.params.npmName)
      if (!found) throw unknownPlugin()
      return { publicSettings: settingValues.parse(publicSettings(found.registered, opened(secrets, found.sealed))) }
    },
  )

  app.put(
    '/api/v1/plugins/:npmName/settings',
    { config: manage, schema: { tags, params, body: settingsBody, response: done } },
    async (request, reply) => {
      await plugins.changeSettings(request.params.npmName, request.body.settings)
      return reply.code(204).send(null)
    },
  )
}

function addChanges(app: App, { plugins }: ServerPluginsDeps): void {
  for (const [path, operationId] of [
    ['install', 'addPlugin'],
    ['update', 'updatePlugin'],
  ] as const) {
    app.post(
      `/api/v1/plugins/${path}`,
      { config: manage, schema: { tags, operationId, body: installBody, response: done } },
      async (request, reply) => {
        const { npmName: name, path: folder, pluginVersion, currentPassword } = request.body
        if (folder !== undefined)
          throw new DomainError('invalid', 'Folders of the server are installed with `vireo plugin install PATH` only.')
        if (name === undefined) throw new DomainError('invalid', 'npmName is missing.')
        await plugins[path](name, pluginVersion, { userId: sessionOf(request).user.id, currentPassword })
        return reply.code(204).send(null)
      },
    )
  }

  app.post(
    '/api/v1/plugins/uninstall',
    { config: manage, schema: { tags, operationId: 'uninstallPlugin', body: z.object({ npmName }), response: done } },
    async (request, reply) => {
      await plugins.uninstall(request.body.npmName)
      return reply.code(204).send(null)
    },
  )

  for (const path of ['enable', 'disable'] as const) {
    app.post(
      `/api/v1/vireo/plugins/:npmName/${path}`,
      {
        config: manage,
        schema: {
          tags,
          operationId: `${path}Plugin`,
          summary: path === 'enable' ? 'Switch a plugin on, also one that failed' : 'Switch a plugin off, and keep it',
          params,
          response: done,
        },
      },
      async (request, reply) => {
        await plugins[path](request.params.npmName)
        return reply.code(204).send(null)
      },
    )
  }
}
