// Playback reports of players, every few seconds: `POST /metrics/playback`. They are counted if metrics are exported.

import { z } from 'zod'
import { notFound } from '../../actors/runtime/index.ts'
import { findVideoAccess } from '../../actors/video/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Telemetry } from '../../platform/telemetry.ts'
import { idOrUuidInJson } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { makeCountPlayback, playerModes } from './count-playback.ts'

/** A finite count or size that can be summed. */
const amount = z.number('Invalid value').min(0, 'Invalid value').max(Number.MAX_SAFE_INTEGER, 'Invalid value')

const report = z.object({
  playerMode: z.enum(playerModes, 'Invalid value'),
  resolution: amount.optional(),
  fps: amount.optional(),
  p2pEnabled: z.boolean('Invalid value'),
  p2pPeers: amount.optional(),
  resolutionChanges: amount,
  bufferStalled: amount.optional(),
  errors: amount,
  downloadedBytesP2P: amount,
  downloadedBytesHTTP: amount,
  uploadedBytesP2P: amount,
  videoId: idOrUuidInJson('video'),
})

/** Adds `/api/v1/metrics/playback`. */
export function metricsArea({ db, telemetry }: { db: Database; telemetry: Telemetry | undefined }): Area {
  const count = telemetry && makeCountPlayback(telemetry)
  return (app) => {
    app.post(
      '/api/v1/metrics/playback',
      {
        // Without metrics the body is ignored, without an error.
        preValidation: async (_request, reply) => {
          if (!count) await reply.code(204).send(null)
        },
        schema: { tags: ['Stats'], body: report, response: { 204: z.null() } },
      },
      async ({ body }, reply) => {
        const video = await findVideoAccess(db, body.videoId)
        if (!video) throw notFound('Video not found')
        count?.(body, video)
        return reply.code(204).send(null)
      },
    )
  }
}
