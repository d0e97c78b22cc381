// A server that we know, and an activity of one that could not be handled, as an administrator reads them.

import { z } from 'zod'
import type { ParkedActivityRow } from '../../actors/incoming-activity/index.ts'
import type { PeerRow } from '../../actors/remote-host/index.ts'

const time = z.iso.datetime().nullable()

export const peerView = z
  .object({
    id: z.int(),
    host: z.string(),
    state: z.enum(['healthy', 'failing', 'dormant']),
    software: z.object({ name: z.string(), version: z.string().nullable() }).nullable(),
    signatureProfile: z.string().meta({ description: 'How it takes signed requests: `cavage` or `rfc9421`.' }),
    unsupportedTypes: z.array(z.string()).meta({ description: 'Types of activities that it refused.' }),
    lag: z.int().nullable().meta({ description: 'Seconds since which the oldest delivery waits.' }),
    nextTryAt: time,
    lastSuccessAt: time,
    lastErrorAt: time,
    lastError: z.string().nullable(),
    waitingDeliveries: z.int(),
    parkedDeliveries: z.int(),
    parkedActivities: z.int(),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Peer' })

export const toPeerView = (row: PeerRow, now: Date): z.infer<typeof peerView> => ({
  id: row.id,
  host: row.host,
  state: row.state,
  software: row.software === null ? null : { name: row.software, version: row.softwareVersion },
  signatureProfile: row.signatureProfile,
  unsupportedTypes: row.unsupportedTypes,
  lag: row.waitingSince === null ? null : Math.max(0, Math.floor((now.getTime() - row.waitingSince.getTime()) / 1000)),
  nextTryAt: row.dueAt?.toISOString() ?? null,
  lastSuccessAt: row.lastSuccessAt?.toISOString() ?? null,
  lastErrorAt: row.lastErrorAt?.toISOString() ?? null,
  lastError: row.lastError,
  waitingDeliveries: row.waitingDeliveries,
  parkedDeliveries: row.parkedDeliveries,
  parkedActivities: row.parkedActivities,
  createdAt: row.createdAt.toISOString(),
})

export const parkedActivityView = z
  .object({
    id: z.int(),
    activityId: z.string(),
    type: z.string(),
    actor: z.string(),
    host: z.string(),
    error: z.string().nullable(),
    receivedAt: z.iso.datetime(),
  })
  .meta({ id: 'ParkedActivity' })

export const toParkedActivityView = (row: ParkedActivityRow): z.infer<typeof parkedActivityView> => ({
  id: row.id,
  activityId: row.activityId,
  type: row.type,
  actor: row.actorUrl,
  host: row.host,
  error: row.error,
  receivedAt: row.receivedAt.toISOString(),
})
