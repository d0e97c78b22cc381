// Lives and their sessions as clients of the API read them.

import { z } from 'zod'
import { type LiveAddresses, type LiveRow, type LiveSessionRow, liveErrorIds } from '../../actors/live/index.ts'
import { toShortUuid } from '../../platform/ids.ts'

const replaySettings = z.object({ privacy: z.int() }).optional()

export const liveView = z
  .object({
    /** The key and the addresses are for those who may change the live. */
    streamKey: z.string().optional(),
    rtmpUrl: z.string().nullish(),
    rtmpsUrl: z.string().nullish(),
    permanentLive: z.boolean(),
    saveReplay: z.boolean(),
    replaySettings,
    latencyMode: z.int(),
  })
  .meta({ id: 'LiveVideo' })

export const liveSessionView = z
  .object({
    id: z.int(),
    startDate: z.iso.datetime(),
    endDate: z.iso.datetime().nullable(),
    endingProcessed: z.boolean(),
    error: z.int().nullable(),
    saveReplay: z.boolean(),
    replaySettings,
    replayVideo: z.object({ id: z.int(), uuid: z.uuid(), shortUUID: z.string() }).optional(),
  })
  .meta({ id: 'LiveVideoSession' })

const replayOf = ({ saveReplay, replayPrivacy }: Pick<LiveRow, 'saveReplay' | 'replayPrivacy'>) => ({
  saveReplay,
  ...(saveReplay && replayPrivacy !== null ? { replaySettings: { privacy: replayPrivacy } } : {}),
})

/** `ingest`: for those who may stream to it. */
export const toLiveView = (row: LiveRow, ingest: LiveAddresses | undefined): z.infer<typeof liveView> => ({
  ...(ingest && row.streamKey !== null ? { streamKey: row.streamKey, ...ingest } : {}),
  permanentLive: row.permanentLive,
  ...replayOf(row),
  latencyMode: row.latencyMode,
})

export const toLiveSessionView = (row: LiveSessionRow): z.infer<typeof liveSessionView> => ({
  id: row.id,
  startDate: row.startedAt.toISOString(),
  endDate: row.endedAt?.toISOString() ?? null,
  endingProcessed: row.state === 'ended',
  error: row.error === null ? null : liveErrorIds[row.error],
  ...replayOf(row),
  ...(row.replay ? { replayVideo: { ...row.replay, shortUUID: toShortUuid(row.replay.uuid) } } : {}),
})
