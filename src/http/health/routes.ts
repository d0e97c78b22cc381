// `/health/live` and `/health/ready` on the public listener: without rate limits and log lines.

import type { Health } from '../../platform/health.ts'
import type { Area } from '../plugins/types.ts'
import { answerReady, LIVE, LIVE_PATH, liveView, READY_PATH, readyView } from './answers.ts'

export function healthArea({ health }: { health: Pick<Health, 'readiness'> }): Area {
  const config = { limits: false, quiet: true } as const
  return (app) => {
    app.get(LIVE_PATH, { config, schema: { hide: true, response: { 200: liveView } } }, async (_request, reply) => {
      reply.header('cache-control', 'no-store')
      return LIVE
    })
    app.get(READY_PATH, { config, schema: { hide: true, response: { 200: readyView, 503: readyView } } }, async (_request, reply) => {
      const { code, body } = await answerReady(health)
      return reply.code(code).header('cache-control', 'no-store').send(body)
    })
  }
}
