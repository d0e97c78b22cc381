// The configuration over REST: what every client reads first, the about page, and the administrators' settings.

import { z } from 'zod'
import type { InstanceFactsReader } from '../../actors/instance/index.ts'
import type { ActivePlugins } from '../../actors/plugin/index.ts'
import type { Change, ConfigEditor, RuntimeConfig } from '../../actors/runtime-config/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { clientIp } from '../plugins/client-ip.ts'
import { sendPrepared } from '../plugins/conditional.ts'
import { HttpError } from '../plugins/http-error.ts'
import type { Area } from '../plugins/types.ts'
import { aboutView, toAbout } from './about.ts'
import { changedFields, describeFields, toChanges, toCustomView } from './custom-keys.ts'
import { type CustomView, customBody, customView, sentForms } from './custom-schemas.ts'
import { loginChanges, loginsBody, loginsView, toLoginsView } from './logins.ts'
import { mailServerBody, mailServerChanges, mailServerView, toMailServerView } from './mail-server.ts'
import type { ReadServerConfig } from './prepared.ts'
import { serverConfigView } from './server-config.ts'

export interface ConfigDeps {
  db: Pick<Database, 'query'>
  config: () => Config
  runtimeConfig: RuntimeConfig
  facts: InstanceFactsReader
  serverConfig: ReadServerConfig
  activePlugins: Pick<ActivePlugins, 'recent' | 'hasTheme'>
}

const TAGS = ['Config']

const fieldsView = z
  .object({
    data: z.array(
      z.object({
        name: z.string().meta({ description: 'Of the body of `PUT /api/v1/config/custom`, such as `signup.limit`.' }),
        about: z.string().meta({ description: 'One phrase.' }),
        isPinned: z.boolean().meta({ description: 'The environment of the server sets it, and it cannot be changed.' }),
      }),
    ),
  })
  .meta({ id: 'ConfigFields' })

/** Adds `/config`, `/config/about` and `/config/custom`. */
export function configArea(deps: ConfigDeps): Area {
  const { db, config, runtimeConfig, facts, serverConfig, activePlugins } = deps
  const manage = { right: 'MANAGE_CONFIGURATION' } as const

  function refuseUnlessEditable(): void {
    if (config().webadmin.configuration.edition.allowed) return
    throw notEditable('This server does not let its configuration be changed over the API.')
  }

  async function change(changes: readonly Change[], { id, username }: ConfigEditor): Promise<void> {
    const pinned = runtimeConfig.pinned(changes)
    if (pinned.length > 0) throw notEditable(`The environment of the server sets ${pinned.join(', ')}.`)
    await runtimeConfig.change(changes, { id, username })
  }

  return (app) => {
    app.get(
      '/api/v1/config',
      { schema: { operationId: 'getConfig', tags: TAGS, response: { 200: serverConfigView } } },
      async (request, reply) => sendPrepared(request, reply, await serverConfig(clientIp(request))),
    )

    app.get('/api/v1/config/about', { schema: { operationId: 'getAbout', tags: TAGS, response: { 200: aboutView } } }, async () =>
      toAbout(config(), await facts.read()),
    )

    app.get(
      '/api/v1/config/custom',
      { config: manage, schema: { operationId: 'getCustomConfig', tags: TAGS, response: { 200: customView } } },
      () => toCustomView(config()),
    )

    app.put(
      '/api/v1/config/custom',
      {
        config: manage,
        schema: {
          operationId: 'putCustomConfig',
          tags: TAGS,
          body: customBody((name) => name === 'default' || activePlugins.hasTheme(name)),
          response: { 200: customView },
        },
        preValidation: async (request) => {
          await activePlugins.recent()
          Object.assign(request, { body: changedFields(request.body, toCustomView(config())) })
        },
      },
      async (request) => {
        refuseUnlessEditable()
        await change(toChanges(request.body), sessionOf(request).user)
        return asSent(toCustomView(config()), request.body)
      },
    )

    app.get(
      '/api/v1/vireo/config-fields',
      {
        config: manage,
        schema: {
          operationId: 'getConfigFields',
          summary: 'Describe the fields of the configuration that administrators can change',
          tags: TAGS,
          response: { 200: fieldsView },
        },
      },
      () => ({ data: describeFields(runtimeConfig.isPinned) }),
    )

    app.get(
      '/api/v1/vireo/logins',
      {
        config: manage,
        schema: {
          operationId: 'getLogins',
          summary: 'Show the logins with other systems, without their secrets',
          tags: TAGS,
          response: { 200: loginsView },
        },
      },
      () => toLoginsView(config()),
    )

    app.put(
      '/api/v1/vireo/logins',
      {
        config: manage,
        schema: {
          operationId: 'putLogins',
          summary: 'Change the logins with other systems: each list as a whole; secrets that are left out stay',
          tags: TAGS,
          body: loginsBody,
          response: { 200: loginsView },
        },
      },
      async (request) => {
        refuseUnlessEditable()
        await change(await loginChanges(request.body, { config: config(), db }), sessionOf(request).user)
        return toLoginsView(config())
      },
    )

    app.get(
      '/api/v1/vireo/mail-server',
      {
        config: manage,
        schema: {
          operationId: 'getMailServer',
          summary: 'Show the mail server, without its password',
          tags: TAGS,
          response: { 200: mailServerView },
        },
      },
      () => toMailServerView(config(), runtimeConfig.isPinned),
    )

    app.put(
      '/api/v1/vireo/mail-server',
      {
        config: manage,
        schema: {
          operationId: 'putMailServer',
          summary: 'Change the mail server; what is left out stays',
          tags: TAGS,
          body: mailServerBody,
          response: { 200: mailServerView },
        },
      },
      async (request) => {
        refuseUnlessEditable()
        await change(mailServerChanges(request.body, config()), sessionOf(request).user)
        return toMailServerView(config(), runtimeConfig.isPinned)
      },
    )

    app.delete(
      '/api/v1/config/custom',
      { config: manage, schema: { operationId: 'delCustomConfig', tags: TAGS, response: { 200: customView } } },
      async (request) => {
        refuseUnlessEditable()
        const { id, username } = sessionOf(request).user
        await runtimeConfig.reset({ id, username })
        return toCustomView(config())
      },
    )
  }
}

const notEditable = (reason: string): HttpError => new HttpError(405, reason, { headers: { allow: 'GET' } })

/** Returns the fields that may be sent in another form in that form. */
function asSent(view: CustomView, body: unknown): CustomView {
  const { instance, trending } = sentForms.parse(body)
  const { algorithms } = view.trending.videos
  return {
    ...view,
    instance: {
      ...view.instance,
      defaultClientRoute: instance?.defaultClientRoute ?? view.instance.defaultClientRoute,
    },
    trending: {
      videos: {
        algorithms: { ...algorithms, enabled: trending?.videos?.algorithms?.enabled ?? algorithms.enabled },
      },
    },
  }
}
