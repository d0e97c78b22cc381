// An ActivityPub actor: the instance, an account or a channel, local (no host) or remote.

import { defineEntity, p } from '@mikro-orm/postgresql'

const ActorSchema = defineEntity({
  name: 'Actor',
  tableName: 'actor',
  properties: {
    id: p.integer().primary(),
    type: p.text().$type<ActorType>(),
    preferredUsername: p.text(),
    /** The remote host; null for a local actor. */
    hostId: p.integer().nullable(),
    url: p.text(),
    inboxUrl: p.text(),
    sharedInboxUrl: p.text().nullable(),
    outboxUrl: p.text().nullable(),
    followersUrl: p.text().nullable(),
    followingUrl: p.text().nullable(),
    keyId: p.text().nullable(),
    publicKeyPem: p.text().nullable(),
    /** PKCS #8, encrypted with the instance's secret. */
    privateKeySealed: p.text().nullable(),
    /** Multikey form of the Ed25519 public key (FEP-521a). */
    ed25519Public: p.text().nullable().fieldNames('ed25519_public'),
    ed25519PrivateSealed: p.text().nullable().fieldNames('ed25519_private_sealed'),
    followersCount: p.integer().default(0),
    followingCount: p.integer().default(0),
    remoteCreatedAt: p.datetime(3).nullable(),
    refreshedAt: p.datetime(3).nullable(),
    deletedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    // Accessed in SQL only:
    followersAskedAt: p.datetime(3).nullable().lazy(),
    knownAt: p.json<object>().nullable().lazy(),
    refreshAskedAt: p.datetime(3).nullable().lazy(),
    remoteFollowers: p.integer().nullable().lazy(),
    remoteState: p.text().defaultRaw("'known'").lazy(),
    strikes: p.smallint().defaultRaw('0').lazy(),
    urlHash: p.uuid().nullable().generated('((md5(url))::uuid) stored').lazy(),
  },
})

export class Actor extends ActorSchema.class {}
ActorSchema.setClass(Actor)

/** ActivityStreams types of stored actors; a remote account may also be a Service or an Organization. */
export type ActorType = 'Application' | 'Person' | 'Group' | 'Service' | 'Organization'

export const ActorTotal = defineEntity({
  name: 'ActorTotal',
  tableName: 'actor_total',
  properties: {
    channels: p.boolean().primary(),
    total: p.integer(),
  },
})

export const ActorTotalDelta = defineEntity({
  name: 'ActorTotalDelta',
  tableName: 'actor_total_delta',
  properties: {
    id: p.bigint('number').primary(),
    channels: p.boolean(),
    delta: p.integer(),
  },
})
