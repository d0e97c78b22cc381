// Known servers, their parked activities, and refused ones: `/vireo/peers`, `/vireo/parked-activities`, `/vireo/inbound-decisions`.

import { z } from 'zod'
import { historiesOf } from '../../actors/follow/index.ts'
import { type InboundJournal, listInboundDecisions, reasons, verdicts } from '../../actors/inbound-decision/index.ts'
import { type IncomingActivities, listParkedActivities } from '../../actors/incoming-activity/index.ts'
import { listPeers } from '../../actors/remote-host/index.ts'
import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { readHost } from '../plugins/handles.ts'
import { idText, listOf, paging, sorting } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { inboundDecisionView, parkedActivityView, peerView, toInboundDecisionView, toParkedActivityView, toPeerView } from './views.ts'

export interface PeersDeps {
  db: Database
  config: () => Config
  clock: Clock
  retryHost: (host: string) => Promise<void>
  incoming: Pick<IncomingActivities, 'retryParked' | 'dropParked'>
  decisions: Pick<InboundJournal, 'flush'>
}

const TAGS = ['Peers']
const MAX_HOST = 260
const DECISION_SORTS = ['lastAt', 'count', 'host'] as const
const SORTS = ['host', 'createdAt', 'lag', 'waitingDeliveries', 'lastSuccessAt'] as const
/** No control characters: PostgreSQL refuses texts with a zero byte. */
const hostText = z
  .string()
  .min(1)
  .max(MAX_HOST)
  .transform(readHost)
  .refine((text) => /^[^\s\p{Cc}/@]+$/u.test(text), 'Should have a host')

export function peersArea(deps: PeersDeps): Area {
  const { db, config, clock, retryHost, incoming, decisions } = deps
  const admin = { auth: 'admin' } as const
  const byId = z.object({ id: idText })

  return (app) => {
    app.get(
      '/api/v1/vireo/peers',
      {
        config: admin,
        schema: {
          operationId: 'listPeers',
          summary: 'List the servers that are known, with what waits for them and what went wrong',
          tags: TAGS,
          querystring: z.object({
            ...paging(config()),
            sort: sorting(SORTS, '-createdAt'),
            state: z.enum(['healthy', 'failing', 'dormant']).optional(),
            search: hostText.optional(),
          }),
          response: { 200: listOf(peerView) },
        },
      },
      async ({ query: { sort, ...query } }) => {
        const { total, rows } = await listPeers(db, {
          ...query,
          sort: { column: sort.by, descending: sort.descending },
        })
        const histories = await historiesOf(
          db.query,
          rows.map(({ id }) => id),
        )
        const of = (id: number) => histories.filter(({ host_id }) => host_id === id)
        return { total, data: rows.map((row) => toPeerView(row, of(row.id), clock.now())) }
      },
    )

    app.post(
      '/api/v1/vireo/peers/:host/retry',
      {
        config: admin,
        schema: {
          operationId: 'retryPeer',
          summary: 'Try now what waits for a server, its parked deliveries too',
          tags: TAGS,
          params: z.object({ host: hostText }),
          response: { 204: z.null() },
        },
      },
      async ({ params: { host } }, reply) => {
        await retryHost(host)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/api/v1/vireo/parked-activities',
      {
        config: admin,
        schema: {
          operationId: 'listParkedActivities',
          summary: 'List activities of other servers that could not be handled',
          tags: TAGS,
          querystring: z.object({ ...paging(config()), host: hostText.optional() }),
          response: { 200: listOf(parkedActivityView) },
        },
      },
      async ({ query }) => {
        const { total, rows } = await listParkedActivities(db, query)
        return { total, data: rows.map(toParkedActivityView) }
      },
    )

    app.get(
      '/api/v1/vireo/inbound-decisions',
      {
        config: { right: 'MANAGE_SERVERS_BLOCKLIST' },
        schema: {
          operationId: 'listInboundDecisions',
          summary: 'List what was refused, put off, dropped, held or tagged of what others sent, by server, reason and kind',
          tags: TAGS,
          querystring: z.object({
            ...paging(config()),
            sort: sorting(DECISION_SORTS, '-lastAt'),
            host: hostText.optional(),
            reason: z.enum(reasons).optional(),
            verdict: z.enum(verdicts).optional(),
          }),
          response: { 200: listOf(inboundDecisionView) },
        },
      },
      async ({ query: { sort, ...query } }) => {
        await decisions.flush()
        const { total, rows } = await listInboundDecisions(db, {
          ...query,
          sort: { column: sort.by, descending: sort.descending },
        })
        return { total, data: rows.map(toInboundDecisionView) }
      },
    )

    app.post(
      '/api/v1/vireo/parked-activities/:id/retry',
      {
        config: admin,
        schema: {
          operationId: 'retryParkedActivity',
          summary: 'Handle a parked activity again',
          tags: TAGS,
          params: byId,
          response: { 204: z.null() },
        },
      },
      async ({ params: { id } }, reply) => {
        await incoming.retryParked(id)
        return reply.code(204).send(null)
      },
    )

    app.delete(
      '/api/v1/vireo/parked-activities/:id',
      {
        config: admin,
        schema: {
          operationId: 'dropParkedActivity',
          summary: 'Give a parked activity up',
          tags: TAGS,
          params: byId,
          response: { 204: z.null() },
        },
      },
      async ({ params: { id } }, reply) => {
        await incoming.dropParked(id)
        return reply.code(204).send(null)
      },
    )
  }
}
