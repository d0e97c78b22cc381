// A new local actor: addresses from its name, and new key pairs with sealed private keys.

import type { ActorKeys } from '../../platform/keys.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { LocalUrls, Unit } from '../runtime/index.ts'
import { Actor, type ActorType } from './actor.entity.ts'

/** Name of the instance actor, which PeerTube's peers expect at `/accounts/peertube`. */
export const INSTANCE_ACTOR_NAME = 'peertube'

/** Stores the actor and returns its id. `keys` are generated before the transaction, because RSA keys take long. */
export async function insertLocalActor(options: {
  unit: Unit
  type: ActorType
  name: string
  keys: ActorKeys
  secrets: Secrets
  urls: LocalUrls
}): Promise<number> {
  const { unit, type, name, keys, secrets, urls } = options
  const url = type === 'Group' ? urls.channel(name) : urls.account(name)
  const actor = unit.em.create(Actor, {
    type,
    preferredUsername: name,
    hostId: null,
    url,
    inboxUrl: urls.actorCollection(url, 'inbox'),
    sharedInboxUrl: urls.sharedInbox,
    outboxUrl: urls.actorCollection(url, 'outbox'),
    followersUrl: urls.actorCollection(url, 'followers'),
    followingUrl: urls.actorCollection(url, 'following'),
    keyId: urls.publicKey(url),
    publicKeyPem: keys.rsa.publicPem,
    privateKeySealed: secrets.seal(keys.rsa.privatePem),
    ed25519Public: keys.ed25519.publicMultibase,
    ed25519PrivateSealed: secrets.seal(keys.ed25519.privatePem),
    createdAt: unit.now,
    updatedAt: unit.now,
  })
  await unit.em.flush()
  return actor.id
}
