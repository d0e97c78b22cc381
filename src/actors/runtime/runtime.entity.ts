// Jobs, lanes, the outbox, and periodic tasks.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const Job = defineEntity({
  name: 'Job',
  tableName: 'job',
  properties: {
    id: p.bigint('number').primary(),
    type: p.text(),
    queue: p.text(),
    state: p.text(),
    data: p.json<unknown>(),
    dedupeKey: p.text().nullable(),
    priority: p.integer(),
    progress: p.float(),
    failures: p.integer(),
    maxAttempts: p.integer(),
    lostLeases: p.integer(),
    leaseOwner: p.text().nullable(),
    leaseUntil: p.datetime(3).nullable(),
    dueAt: p.datetime(3),
    error: p.text().nullable(),
    createdAt: p.datetime(3),
    startedAt: p.datetime(3).nullable(),
    finishedAt: p.datetime(3).nullable(),
    /** The following are null in jobs of local workers. */
    uuid: p.uuid().nullable(),
    parentId: p.bigint('number').nullable(),
    runnerId: p.integer().nullable(),
    leaseTokenHash: p.blob().nullable(),
    /** The result that its runner sends; a later one takes its place. */
    receives: p.uuid().nullable(),
    updatedAt: p.datetime(3).nullable(),
  },
})

export const Lane = defineEntity({
  name: 'Lane',
  tableName: 'lane',
  properties: {
    kind: p.text().primary(),
    key: p.text().primary(),
    dueAt: p.datetime(3).nullable(),
    leaseUntil: p.datetime(3).nullable(),
    leaseOwner: p.text().nullable(),
    dirty: p.boolean(),
  },
})

export const Outbox = defineEntity({
  name: 'Outbox',
  tableName: 'outbox',
  properties: {
    id: p.bigint('number').primary(),
    aggregate: p.text(),
    aggregateId: p.bigint('number'),
    event: p.text(),
    payload: p.json<unknown>(),
    failures: p.integer(),
    error: p.text().nullable(),
    dueAt: p.datetime(3),
    parkedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
  },
})

export const PeriodicTask = defineEntity({
  name: 'PeriodicTask',
  tableName: 'periodic_task',
  properties: {
    name: p.text().primary(),
    dueAt: p.datetime(3),
    everyMs: p.bigint('number'),
    startedAt: p.datetime(3),
    owner: p.text().nullable(),
  },
})
