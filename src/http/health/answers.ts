// Responses for load balancers and orchestrators, the same on each listener. They contain no secrets.

import { z } from 'zod'
import type { Health, Readiness } from '../../platform/health.ts'

export const LIVE_PATH = '/health/live'
export const READY_PATH = '/health/ready'

export const liveView = z.object({ status: z.literal('live') })

export const readyView = z.object({
  status: z.enum(['ready', 'starting', 'draining', 'unavailable']),
  parts: z.object({
    database: z.enum(['up', 'down']),
    migrations: z.enum(['pending', 'done']),
    redis: z.enum(['up', 'down']).optional(),
  }),
})

export const LIVE: z.infer<typeof liveView> = { status: 'live' }

export async function answerReady(health: Pick<Health, 'readiness'>): Promise<{ code: 200 | 503; body: z.infer<typeof readyView> }> {
  const readiness = await health.readiness()
  return { code: readiness.ready ? 200 : 503, body: toView(readiness) }
}

const toView = ({ status, migrations, parts }: Readiness): z.infer<typeof readyView> => ({
  status,
  parts: { database: parts.database ?? 'down', migrations, ...(parts.redis ? { redis: parts.redis } : {}) },
})
