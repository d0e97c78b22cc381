// Data for browsers that install or search the server: `/manifest.webmanifest`, `/opensearch.xml`.

import type { Config } from '../../config/index.ts'
import { acceptConstraint } from '../plugins/accept-constraint.ts'
import type { Area } from '../plugins/types.ts'
import type { Here } from '../videos/actor.view.ts'
import type { BuiltClient } from './built-client.ts'
import { ICON_SIZES } from './default-images.ts'
import { searchDescription } from './search-description.ts'

const iconPath = (size: number): string => `/client/assets/images/icons/icon-${size}x${size}.png`

export function manifestArea(deps: { config: () => Config; urls: Here; client: Pick<BuiltClient, 'manifest'> | undefined }): Area {
  const { config, urls, client } = deps
  const options = { schema: { hide: true }, config: { limits: ['client'] } } as const

  return (app) => {
    app.get('/manifest.webmanifest', options, async (_request, reply) => {
      const { name, short_description } = config().instance
      const manifest = {
        ...OWN,
        ...(await client?.manifest()),
        name,
        short_name: name,
        description: short_description,
      }
      return reply
        .header('content-type', 'application/json; charset=utf-8')
        .header('cache-control', 'max-age=0, no-cache, must-revalidate')
        .send(JSON.stringify(manifest))
    })

    // A request without an Accept header gets a page at this address, as clients of the reference expect.
    for (const asks of ['page', 'other'] as const) {
      app.get('/opensearch.xml', { ...options, constraints: acceptConstraint(asks) }, async (_request, reply) =>
        reply
          .header('content-type', 'application/opensearchdescription+xml; charset=utf-8')
          .header('cache-control', `max-age=${Math.round(config().vireo.caching.routes.well_known / 1000)}`)
          .send(searchDescription({ name: config().instance.name, origin: urls.origin, icon: iconPath(48) })),
      )
    }
  }
}

const OWN = {
  name: '',
  short_name: '',
  start_url: '/',
  background_color: '#fff',
  theme_color: '#fff',
  description: '',
  display: 'standalone',
  icons: ICON_SIZES.map((size) => ({ src: iconPath(size), sizes: `${size}x${size}`, type: 'image/png' })),
}
