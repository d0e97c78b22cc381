// An ActivityPub actor: the instance, an account or a channel, local (no host) or remote.

import { defineEntity, p } from '@mikro-orm/postgresql'

const ActorSchema = defineEntity({
  name: 'Actor',
  tableName: 'actor',
  properties: {
    id: p.integer().primary(),
    type: p.string().$type<ActorType>(),
    preferredUsername: p.string(),
    /** The remote host; null for an actor of ours. */
    hostId: p.integer().nullable(),
    url: p.string(),
    inboxUrl: p.string(),
    sharedInboxUrl: p.string().nullable(),
    outboxUrl: p.string().nullable(),
    followersUrl: p.string().nullable(),
    followingUrl: p.string().nullable(),
    keyId: p.string().nullable(),
    publicKeyPem: p.string().nullable(),
    /** PKCS #8, encrypted with the instance's secret. */
    privateKeySealed: p.string().nullable(),
    /** Multikey form of the Ed25519 public key (FEP-521a). */
    ed25519Public: p.string().nullable().fieldNames('ed25519_public'),
    ed25519PrivateSealed: p.string().nullable().fieldNames('ed25519_private_sealed'),
    followersCount: p.integer().default(0),
    followingCount: p.integer().default(0),
    remoteCreatedAt: p.datetime().nullable(),
    refreshedAt: p.datetime().nullable(),
    deletedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
})

export class Actor extends ActorSchema.class {}
ActorSchema.setClass(Actor)

/** ActivityStreams actor types that we store; a remote account may also be a Service or an Organization. */
export type ActorType = 'Application' | 'Person' | 'Group' | 'Service' | 'Organization'
