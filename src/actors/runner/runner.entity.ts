// Remote runners, and the tokens with which they register.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const RunnerRegistrationToken = defineEntity({
  name: 'RunnerRegistrationToken',
  tableName: 'runner_registration_token',
  properties: {
    id: p.integer().primary(),
    tokenHash: p.blob(),
    tokenSealed: p.text(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})

export const Runner = defineEntity({
  name: 'Runner',
  tableName: 'runner',
  properties: {
    id: p.integer().primary(),
    registrationTokenId: p.integer(),
    name: p.text(),
    description: p.text().nullable(),
    tokenHash: p.blob(),
    ip: p.text(),
    /** As the runner states it; null if it does not. */
    version: p.text().nullable(),
    /** Jobs that it reported as failed, or lost. */
    failures: p.integer(),
    lastContact: p.datetime(3),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})
