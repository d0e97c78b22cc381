// The configuration over REST: what every client reads first, the about page, and what administrators may change.

import type { InstanceFactsReader } from '../../actors/instance/index.ts'
import type { RuntimeConfig } from '../../actors/runtime-config/index.ts'
import type { Config } from '../../config/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { clientIp } from '../plugins/client-ip.ts'
import { sendPrepared } from '../plugins/conditional.ts'
import { HttpError } from '../plugins/http-error.ts'
import type { Area } from '../plugins/types.ts'
import { aboutView, toAbout } from './about.ts'
import { toChanges, toCustomView } from './custom-keys.ts'
import { type CustomBody, type CustomView, customBody, customView } from './custom-schemas.ts'
import type { ReadServerConfig } from './prepared.ts'
import { serverConfigView } from './server-config.ts'

export interface ConfigDeps {
  config: () => Config
  runtimeConfig: RuntimeConfig
  facts: InstanceFactsReader
  serverConfig: ReadServerConfig
}

/** The names of the themes that there are; those of plugins will come beside it. */
const THEMES = ['default']

const TAGS = ['Config']

/** Adds `/config`, `/config/about` and `/config/custom`. */
export function configArea(deps: ConfigDeps): Area {
  const { config, runtimeConfig, facts, serverConfig } = deps
  const manage = { right: 'MANAGE_CONFIGURATION' } as const

  function refuseUnlessEditable(): void {
    if (config().webadmin.configuration.edition.allowed) return
    throw new HttpError(405, 'This server does not let its configuration be changed over the API.', {
      headers: { allow: 'GET' },
    })
  }

  return (app) => {
    app.get(
      '/api/v1/config',
      { schema: { operationId: 'getConfig', tags: TAGS, response: { 200: serverConfigView } } },
      async (request, reply) => sendPrepared(request, reply, await serverConfig(clientIp(request))),
    )

    app.get(
      '/api/v1/config/about',
      { schema: { operationId: 'getAbout', tags: TAGS, response: { 200: aboutView } } },
      async () => toAbout(config(), await facts.read()),
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
      },
      async (request) => {
        refuseUnlessEditable()
        const { id, username } = sessionOf(request).user
        await runtimeConfig.change(toChanges(request.body), { id, username })
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

/** Two fields may be sent in another form than they are kept; the answer has them as they were sent. */
function asSent(view: CustomView, { instance, trending }: CustomBody): CustomView {
  const { algorithms } = trending.videos
  return {
    ...view,
    instance: { ...view.instance, defaultClientRoute: instance.defaultClientRoute },
    trending: {
      videos: { algorithms: { ...view.trending.videos.algorithms, enabled: algorithms.enabled } },
    },
  }
}
