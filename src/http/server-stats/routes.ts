// Statistics of the instance: `/server/stats`.

import type { ServerStatsReader } from '../../actors/server-stats/index.ts'
import type { Config } from '../../config/index.ts'
import type { Area } from '../plugins/types.ts'
import { serverStatsView, toServerStats } from './view.ts'

export function serverStatsArea({ config, stats }: { config: () => Config; stats: ServerStatsReader }): Area {
  return (app) => {
    app.get(
      '/api/v1/server/stats',
      { schema: { operationId: 'getInstanceStats', tags: ['Stats'], response: { 200: serverStatsView } } },
      async (_request, reply) => {
        const maxAgeS = Math.round(config().vireo.caching.routes.stats / 1000)
        const answer = toServerStats(await stats.recent(), config())
        return reply.header('cache-control', `max-age=${maxAgeS}`).send(answer)
      },
    )
  }
}
