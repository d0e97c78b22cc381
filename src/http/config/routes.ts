// The configuration over REST: what every client reads first, the about page, and the administrators' settings.

import type { InstanceFactsReader } from '../../actors/instance/index.ts'
import type { RuntimeConfig } from '../../actors/runtime-config/index.ts'
import type { Config } from '../../config/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { clientIp } from '../plugins/client-ip.ts'
import { sendPrepared } from '../plugins/conditional.ts'
import { HttpError } from '../plugins/http-error.ts'
import type { Area } from '../plugins/types.ts'
import { aboutView, toAbout } from './about.ts'
import { changedFields, toChanges, toCustomView } from './custom-keys.ts'
import { type CustomView, customBody, customView, sentForms } from './custom-schemas.ts'
import type { ReadServerConfig } from './prepared.ts'
import { serverConfigView } from './server-config.ts'

export interface ConfigDeps {
  config: () => Config
  runtimeConfig: RuntimeConfig
  facts: InstanceFactsReader
  serverConfig: ReadServerConfig
}

/** The names of the available themes. */
const THEMES = ['default']

const TAGS = ['Config']

/** Adds `/config`, `/config/about` and `/config/custom`. */
export function configArea(deps: ConfigDeps): Area {
  const { config, runtimeConfig, facts, serverConfig } = deps
  const manage = { right: 'MANAGE_CONFIGURATION' } as const

  function refuseUnlessEditable(): void {
    if (config().webadmin.configuration.edition.allowed) return
    throw notEditable('This server does not let its configuration be changed over the API.')
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
          body: customBody(THEMES),
          response: { 200: customView },
        },
        preValidation: async (request) => {
          Object.assign(request, { body: changedFields(request.body, toCustomView(config())) })
        },
      },
      async (request) => {
        refuseUnlessEditable()
        const { id, username } = sessionOf(request).user
        const changes = toChanges(request.body)
        const pinned = runtimeConfig.pinned(changes)
        if (pinned.length > 0) throw notEditable(`The environment of the server sets ${pinned.join(', ')}.`)
        await runtimeConfig.change(changes, { id, username })
        return asSent(toCustomView(config()), request.body)
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
