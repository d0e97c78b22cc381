// A document, stored once, and its delivery to each host (machine `delivery`).

import { defineEntity, p } from '@mikro-orm/postgresql'

export const Delivery = defineEntity({
  name: 'Delivery',
  tableName: 'delivery',
  properties: {
    id: p.bigint('number').primary(),
    documentId: p.bigint('number'),
    hostId: p.integer(),
    actorId: p.integer(),
    inboxUrl: p.text(),
    state: p.text(),
    context: p.json<unknown>(),
    error: p.text().nullable(),
    createdAt: p.datetime(3),
    dueAt: p.datetime(3).nullable(),
  },
})

export const Document = defineEntity({
  name: 'Document',
  tableName: 'document',
  properties: {
    id: p.bigint('number').primary(),
    activityId: p.text(),
    type: p.text(),
    body: p.text(),
    createdAt: p.datetime(3),
  },
})
