// Players report every few seconds how the playback goes: `POST /metrics/playback`. It is counted where metrics are exported.

import { z } from 'zod'
import { notFound } from '../../actors/runtime/index.ts'
import { findVideoAccess } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Counters } from '../../platform/counters.ts'
import type { Database } from '../../platform/database/index.ts'
import { idNumber, idOrUuid } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { makeCountPlayback, playerModes } from './count-playback.ts'

/** A count or a size, which adds up to something sensible. */
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
  videoId: z.union([idNumber.transform((id) => ({ id })), idOrUuid('video')], 'Should have a valid video id'),
})

/** Adds `/api/v1/metrics/playback`. */
export function metricsArea(deps: { db: Database; config: () => Config; counters: Counters }): Area {
  const { db, config, counters } = deps
  const count = makeCountPlayback(counters)
  return (app) => {
    app.post(
      '/api/v1/metrics/playback',
      {
        // Nobody counts: players need not know, and what they say is not looked at.
        preValidation: async (_request, reply) => {
          if (!config().open_telemetry.metrics.enabled) await reply.code(204).send(null)
        },
        schema: { tags: ['Stats'], body: report, response: { 204: z.null() } },
      },
      async ({ body }, reply) => {
        const video = await findVideoAccess(db, body.videoId)
        if (!video) throw notFound('Video not found')
        count(body, video)
        return reply.code(204).send(null)
      },
    )
  }
}
