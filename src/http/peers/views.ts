// Known servers, parked activities and inbound decisions, as the staff reads them.

import { z } from 'zod'
import type { HistoryRow } from '../../actors/follow/index.ts'
import { type InboundDecisionRow, reasons, verdicts } from '../../actors/inbound-decision/index.ts'
import type { ParkedActivityRow } from '../../actors/incoming-activity/index.ts'
import type { PeerRow } from '../../actors/remote-host/index.ts'

const time = z.iso.datetime().nullable()

const historyView = z
  .object({
    actor: z.string(),
    state: z.enum(['waiting', 'walking', 'retrying', 'incomplete', 'done', 'failed', 'stopped']),
    seen: z.int(),
    total: z.int().nullable().meta({ description: 'Items that the outbox claims to have.' }),
    putAside: z.int().meta({ description: 'Items that cannot be had now and are tried again.' }),
    givenUp: z.int(),
    error: z.string().nullable(),
    nextTryAt: time,
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'PeerHistory' })

export const peerView = z
  .object({
    id: z.int(),
    host: z.string(),
    state: z.enum(['healthy', 'failing', 'dormant']),
    software: z.object({ name: z.string(), version: z.string().nullable() }).nullable(),
    signatureProfile: z.string().meta({ description: 'The signature profile that it accepts: `cavage` or `rfc9421`.' }),
    unsupportedTypes: z.array(z.string()).meta({ description: 'Types of activities that it refused.' }),
    lag: z.int().nullable().meta({ description: 'Seconds since which the oldest delivery waits.' }),
    nextTryAt: time,
    lastSuccessAt: time,
    lastErrorAt: time,
    lastError: z.string().nullable(),
    waitingDeliveries: z.int().meta({ description: 'Up to 1,000; as are all counts of what waits or is parked.' }),
    parkedDeliveries: z.int(),
    parkedActivities: z.int(),
    history: z
      .object({ actors: z.int(), seen: z.int(), total: z.int(), walks: z.array(historyView) })
      .nullable()
      .meta({
        description: 'How much of the outboxes of followed actors was read: all of them, and up to ten of them.',
      }),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Peer' })

export const toPeerView = (row: PeerRow, histories: HistoryRow[], now: Date): z.infer<typeof peerView> => ({
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
  history: toHistoryView(histories),
  createdAt: row.createdAt.toISOString(),
})

function toHistoryView(rows: HistoryRow[]): z.infer<typeof peerView>['history'] {
  const [first] = rows
  if (!first) return null
  return {
    actors: first.walks,
    seen: first.seen_in_all,
    total: first.total_in_all,
    walks: rows.map((row) => ({
      actor: row.actor_url,
      state: row.state,
      seen: row.seen,
      total: row.total,
      putAside: row.put_aside,
      givenUp: row.given_up,
      error: row.error,
      nextTryAt: row.due_at?.toISOString() ?? null,
      updatedAt: row.updated_at.toISOString(),
    })),
  }
}

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

export const inboundDecisionView = z
  .object({
    host: z.string().meta({ description: 'Empty for servers that are not known, and where nobody proved to be of one.' }),
    verdict: z.enum(verdicts),
    reason: z.enum(reasons),
    kind: z.string().meta({ description: 'Type of the activity, with that of its object: `Create Note`.' }),
    count: z.int(),
    firstAt: z.iso.datetime(),
    lastAt: z.iso.datetime(),
    activityId: z.string().nullable().meta({ description: 'Of the last one.' }),
    actor: z.string().nullable().meta({ description: 'The actor that it names.' }),
  })
  .meta({ id: 'InboundDecision' })

export const toInboundDecisionView = (row: InboundDecisionRow): z.infer<typeof inboundDecisionView> => ({
  host: row.host,
  verdict: row.verdict,
  reason: row.reason,
  kind: row.kind,
  count: row.count,
  firstAt: row.firstAt.toISOString(),
  lastAt: row.lastAt.toISOString(),
  activityId: row.activityId,
  actor: row.actorUrl,
})
