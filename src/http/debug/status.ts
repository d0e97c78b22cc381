// How the server is at the moment, for the overview of administrators: `/vireo/status`.

import { z } from 'zod'
import { readBacklog } from '../../actors/backlog/index.ts'
import type { FileStore } from '../../media/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Health } from '../../platform/health.ts'
import { VERSION } from '../../version.ts'
import { answerReady, readyView } from '../health/answers.ts'
import type { Area } from '../plugins/types.ts'

const counter = z.int()
const statusView = z
  .object({
    version: z.string(),
    health: readyView.meta({ description: 'Of the process that responds.' }),
    disk: z
      .object({ free: z.int(), total: z.int() })
      .nullable()
      .meta({ description: 'Bytes, where videos are stored; null for object storage.' }),
    backlog: z.object({
      waitingJobs: counter,
      activeJobs: counter,
      failedJobs: counter.meta({ description: 'As far as they are kept.' }),
      waitingDeliveries: counter,
      waitingActivities: counter,
      oldestEventSeconds: z.number(),
    }),
  })
  .meta({ id: 'ServerStatus' })

export function statusArea(deps: { db: Database; clock: Clock; store: Pick<FileStore, 'room'>; health: Pick<Health, 'readiness'> }): Area {
  const { db, clock, store, health } = deps
  return (app) => {
    app.get(
      '/api/v1/vireo/status',
      {
        config: { right: 'MANAGE_DEBUG' },
        schema: {
          operationId: 'getServerStatus',
          summary: 'Version, health, disk and what waits',
          tags: ['Debug'],
          response: { 200: statusView },
        },
      },
      async () => {
        const [{ body }, room, { jobs, waitingDeliveries, incoming, outboxSeconds }] = await Promise.all([
          answerReady(health),
          store.room('web_videos'),
          readBacklog(db, clock.now()),
        ])
        const jobsIn = (...states: string[]) => sum(jobs.filter(({ state }) => states.includes(state)))
        return {
          version: VERSION,
          health: body,
          disk: room ?? null,
          backlog: {
            waitingJobs: jobsIn('waiting', 'delayed', 'pending'),
            activeJobs: jobsIn('active', 'processing', 'completing'),
            failedJobs: jobsIn('failed', 'errored', 'parent-errored'),
            waitingDeliveries,
            waitingActivities: sum(incoming),
            oldestEventSeconds: outboxSeconds,
          },
        }
      },
    )
  }
}

const sum = (counts: readonly { count: number }[]): number => counts.reduce((total, { count }) => total + count, 0)
