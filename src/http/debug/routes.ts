// What an administrator asks when something seems stuck: `/server/debug`.

import { z } from 'zod'
import { countWaitingActivities } from '../../actors/incoming-activity/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Area } from '../plugins/types.ts'

const COMMANDS = [
  'remove-dandling-resumable-uploads',
  'process-video-views-buffer',
  'process-video-viewers',
  'process-video-channel-sync-latest',
  'process-update-videos-scheduler',
  'remove-expired-user-exports',
] as const

const debugView = z
  .object({
    ip: z.string(),
    activityPubMessagesWaiting: z.int().meta({ description: 'Activities of others that wait to be handled.' }),
  })
  .meta({ id: 'Debug' })

/** Whatever a command names is periodic work here, or a time-out: `sweep` does all of it that is due. */
export function debugArea(deps: { db: Database; sweep: () => Promise<void> }): Area {
  const manage = { right: 'MANAGE_DEBUG' } as const
  return (app) => {
    app.get(
      '/api/v1/server/debug',
      { config: manage, schema: { operationId: 'getDebug', tags: ['Debug'], response: { 200: debugView } } },
      async ({ ip }) => ({ ip, activityPubMessagesWaiting: await countWaitingActivities(deps.db) }),
    )

    app.post(
      '/api/v1/server/debug/run-command',
      {
        config: manage,
        schema: {
          operationId: 'runDebugCommand',
          tags: ['Debug'],
          body: z.object({ command: z.enum(COMMANDS, 'Invalid command') }),
          response: { 204: z.null() },
        },
      },
      async (_request, reply) => {
        await deps.sweep()
        return reply.code(204).send(null)
      },
    )
  }
}
