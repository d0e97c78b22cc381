// Sessions with their tokens (machine `session`), and the OAuth clients.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const Session = defineEntity({
  name: 'Session',
  tableName: 'session',
  properties: {
    id: p.integer().primary(),
    userId: p.integer(),
    clientId: p.integer(),
    accessTokenHash: p.blob(),
    accessExpiresAt: p.datetime(3),
    refreshTokenHash: p.blob(),
    refreshExpiresAt: p.datetime(3),
    spentRefreshTokenHash: p.blob().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})

export const SpentRefreshToken = defineEntity({
  name: 'SpentRefreshToken',
  tableName: 'spent_refresh_token',
  properties: {
    tokenHash: p.blob().primary(),
    sessionId: p.integer(),
    expiresAt: p.datetime(3),
  },
})

export const FeedToken = defineEntity({
  name: 'FeedToken',
  tableName: 'feed_token',
  properties: {
    userId: p.integer().primary(),
    tokenHash: p.blob(),
    tokenSealed: p.text(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})
