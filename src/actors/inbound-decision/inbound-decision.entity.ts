// Activities that were refused or ignored, counted by host and reason.

import { defineEntity, p } from '@mikro-orm/postgresql'
import type { Reason, Verdict } from './decision.ts'

export const InboundDecision = defineEntity({
  name: 'InboundDecision',
  tableName: 'inbound_decision',
  properties: {
    /** Empty for unknown servers. */
    host: p.text().primary(),
    reason: p.text().$type<Reason>().primary(),
    kind: p.text().primary(),
    verdict: p.text().$type<Verdict>(),
    count: p.bigint('number'),
    firstAt: p.datetime(3),
    lastAt: p.datetime(3),
    activityId: p.text().nullable(),
    actorUrl: p.text().nullable(),
  },
})
