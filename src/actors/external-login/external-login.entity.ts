// Who a user is in another system, and logins with it that are not yet exchanged for a session.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const ExternalIdentity = defineEntity({
  name: 'ExternalIdentity',
  tableName: 'external_identity',
  properties: {
    id: p.integer().primary(),
    userId: p.integer(),
    /** Kind and name in the configuration, such as `openid-connect:company`. */
    provider: p.text(),
    /** The id that never changes there. */
    subject: p.text(),
    login: p.text().nullable(),
    /** When the provider last said that the user is there; null for identities of an earlier version. */
    askedAt: p.datetime(3).nullable(),
    /** When it said, to a question about application tokens, that the user is gone; null again after a login. */
    goneAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
  },
})

export const ExternalLoginToken = defineEntity({
  name: 'ExternalLoginToken',
  tableName: 'external_login_token',
  properties: {
    tokenHash: p.blob().primary(),
    identityId: p.integer(),
    grantSealed: p.text(),
    expiresAt: p.datetime(3),
  },
})
