// Received activities (machine `incoming-activity`), and their statistics.

import { defineEntity, p } from '@mikro-orm/postgresql'
import type { IncomingActivityContext, IncomingActivityState } from '../../state-machines/incoming-activity.ts'

export const ActivityRate = defineEntity({
  name: 'ActivityRate',
  tableName: 'activity_rate',
  properties: {
    at: p.datetime(3).primary(),
    handled: p.bigint('number'),
  },
})

export const ActivityTotal = defineEntity({
  name: 'ActivityTotal',
  tableName: 'activity_total',
  properties: {
    type: p.text().primary(),
    success: p.boolean().primary(),
    total: p.bigint('number'),
  },
})

export const ActivityTotalDelta = defineEntity({
  name: 'ActivityTotalDelta',
  tableName: 'activity_total_delta',
  properties: {
    id: p.bigint('number').primary(),
    type: p.text(),
    success: p.boolean(),
    delta: p.integer(),
  },
})

export const IncomingActivity = defineEntity({
  name: 'IncomingActivity',
  tableName: 'incoming_activity',
  properties: {
    id: p.bigint('number').primary(),
    activityId: p.text(),
    activityHash: p.uuid().nullable(),
    type: p.text(),
    actorUrl: p.text(),
    actorHash: p.uuid().nullable(),
    host: p.text(),
    body: p.text().nullable(),
    bodyHash: p.uuid(),
    proof: p.json<object>().nullable(),
    state: p.text().$type<IncomingActivityState>(),
    context: p.json<IncomingActivityContext>(),
    error: p.text().nullable(),
    dueAt: p.datetime(3).nullable(),
    receivedAt: p.datetime(3),
    saidAt: p.datetime(3).nullable(),
    subjectHash: p.uuid().nullable(),
    endedHash: p.uuid().nullable(),
  },
})
