// Sessions with their tokens, and tokens of other purposes.

import { defineEntity, p } from '@mikro-orm/postgresql'
import { TextArray } from '../../platform/database/index.ts'
import type { TokenScope } from './token-scope.ts'

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
    /** For logins with another system. */
    externalIdentityId: p.integer().nullable(),
    /** What that system is asked with before the next refresh. */
    externalGrantSealed: p.text().nullable(),
    /** Since when it is being asked; a process that died leaves it. */
    externalAskedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    /** The last refresh of its tokens. */
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

export const ApplicationToken = defineEntity({
  name: 'ApplicationToken',
  tableName: 'application_token',
  properties: {
    id: p.integer().primary(),
    userId: p.integer(),
    tokenHash: p.blob(),
    name: p.text(),
    scopes: p.type(TextArray).$type<TokenScope[]>(),
    expiresAt: p.datetime(3),
    /** Within a minute; null if it was never used. */
    lastUsedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
  },
})
