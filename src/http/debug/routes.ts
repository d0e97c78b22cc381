// Diagnostics for administrators: `/server/debug`.

import { z } from 'zod'
import type { ChannelSyncs } from '../../actors/channel-sync/index.ts'
import { countWaitingActivities } from '../../actors/incoming-activity/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { HttpError } from '../plugins/http-error.ts'
import type { Area } from '../plugins/types.ts'

/** The timeouts and periodic tasks behind each command; some have nothing to do here. */
const COMMANDS = {
  'remove-dandling-resumable-uploads': ['upload', 'upload-traces', 'pending-files'],
  'process-video-views-buffer': ['fold-views', 'counters'],
  'process-video-viewers': ['fold-views', 'count-viewers', 'end-watching', 'tell-viewers'],
  'process-video-channel-sync-latest': ['channel_sync'],
  'process-update-videos-scheduler': ['video-schedule'],
  'remove-expired-user-exports': [],
} as const

type Command = keyof typeof COMMANDS
const isCommand = (text: string): text is Command => Object.hasOwn(COMMANDS, text)

const debugView = z
  .object({
    ip: z.string(),
    activityPubMessagesWaiting: z.int().meta({ description: 'Activities of others that wait to be handled.' }),
  })
  .meta({ id: 'Debug' })

/** `run` runs the tasks of these names now. */
export function debugArea(deps: {
  db: Database
  run: (names: readonly string[]) => Promise<void>
  channelSyncs: Pick<ChannelSyncs, 'hurry'>
}): Area {
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
          body: z.object({ command: z.string().meta({ enum: Object.keys(COMMANDS) }) }),
          response: { 204: z.null() },
        },
      },
      async ({ body: { command } }, reply) => {
        // Clients expect this refusal without the name of the field.
        if (!isCommand(command)) throw new HttpError(400, 'Invalid command')
        if (command === 'process-video-channel-sync-latest') await deps.channelSyncs.hurry()
        await deps.run(COMMANDS[command])
        return reply.code(204).send(null)
      },
    )
  }
}
