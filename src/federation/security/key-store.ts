// Keys of actors: public keys as they are stored, and private keys of local actors, which are unsealed for signing.

import type { Actor } from '../../actors/actor/index.ts'
import { batched } from '../../platform/batched.ts'
import type { Columns, Database } from '../../platform/database/index.ts'
import { makeLru } from '../../platform/lru.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { Urls } from '../urls.ts'
import { parseHandle } from '../wire/webfinger.ts'
import type { ActorKeys } from './documents.ts'
import { type FindKey, type KnownKey, makePrivateKeyRing, pemOfMultibase, type SigningKey } from './keys.ts'

export interface KeyStore {
  /** The public key of an id, as it is stored or was up to five seconds ago; never fetches. */
  find: FindKey
  /** The same, without the cache: for a signature that does not match. */
  findFresh: FindKey
  /** The RSA key of a local actor, for requests. */
  forRequests(actorId: number): Promise<SigningKey>
  /** Both keys of a local actor, for documents. */
  forDocuments(actorId: number): Promise<ActorKeys>
}

type PublicKeyRow = Columns<Actor, 'url' | 'publicKeyPem' | 'ed25519Public' | 'keyId' | 'refreshedAt'>

type PrivateKeyRow = Columns<Actor, 'url' | 'privateKeySealed' | 'ed25519PrivateSealed' | 'updatedAt'>

/** Cached public keys and their lifetime: other processes may store new ones. */
const KNOWN_KEYS = 10_000
const KNOWN_MS = 5_000
const PUBLIC = 'url, public_key_pem, ed25519_public, key_id, refreshed_at'
const LOOKED_UP_AT_ONCE = 100
/** Lifetime of cached private keys. */
const OWN_KEYS = 1_000
const OWN_MS = 5_000

export function makeKeyStore(deps: { db: Database; secrets: Secrets; urls: Urls }): KeyStore {
  const { db, secrets, urls } = deps
  const ring = makePrivateKeyRing()
  const known = makeLru<string, KnownKey>(KNOWN_KEYS, { ttl: KNOWN_MS })
  const own = makeLru<number, PrivateKeyRow>(OWN_KEYS, { ttl: OWN_MS, fetchMethod: load })

  const lookUp = batched<string, KnownKey | null>(
    async (keyIds) => {
      const rows = await db.query<PublicKeyRow & { asked: string }>(
        `select distinct on (k.key_id) k.key_id as asked, a.url, a.public_key_pem, a.ed25519_public, a.key_id, a.refreshed_at
         from unnest((select $1::text[]), (select $2::text[])) as k (key_id, actor_url), lateral (
           select ${PUBLIC} from actor where url_hash = md5(k.actor_url)::uuid and url = k.actor_url and deleted_at is null
           union all
           select ${PUBLIC} from actor where key_id = k.key_id and host_id is not null and deleted_at is null
         ) as a
         order by k.key_id, a.key_id = k.key_id desc nulls last`,
        [keyIds, keyIds.map((keyId) => keyId.split('#', 1)[0] ?? keyId)],
      )
      const found = new Map(rows.map((row) => [row.asked, row]))
      return await Promise.all(
        keyIds.map(async (keyId) => {
          const row = found.get(keyId)
          const pem = row && (await pemOf(row, keyId))
          return row && pem ? { pem, owner: row.url, fetchedAt: row.refreshed_at ?? new Date(0) } : null
        }),
      )
    },
    { max: LOOKED_UP_AT_ONCE },
  )

  async function findFresh(keyId: string): Promise<KnownKey | null> {
    const key = keyId.startsWith('acct:') ? await findByHandle(keyId) : await lookUp(keyId)
    if (key) known.set(keyId, key)
    else known.delete(keyId)
    return key
  }

  async function load(actorId: number): Promise<PrivateKeyRow> {
    const [row] = await db.query<PrivateKeyRow>(
      'select url, private_key_sealed, ed25519_private_sealed, updated_at from actor where id = $1 and host_id is null',
      [actorId],
    )
    if (!row) throw new Error(`Actor ${actorId} is not local.`)
    return row
  }

  /**
   * The key of the one actor with this handle; null if a server has an account and a channel of that name, which only WebFinger can
   * distinguish. The owner of the key still has to be the actor of the signed document.
   */
  async function findByHandle(keyId: string): Promise<KnownKey | null> {
    const handle = parseHandle(keyId)
    if (!handle) return null
    const rows = await db.query<PublicKeyRow>(
      `select a.url, a.public_key_pem, a.ed25519_public, a.key_id, a.refreshed_at
       from actor a join remote_host h on h.id = a.host_id
       where lower(a.preferred_username) = lower($1) and h.host = lower($2) and a.deleted_at is null limit 2`,
      [handle.name, handle.host],
    )
    const [row] = rows
    if (!row?.public_key_pem || rows.length > 1) return null
    return { pem: row.public_key_pem, owner: row.url, fetchedAt: row.refreshed_at ?? new Date(0) }
  }

  const rsaOf = (row: PrivateKeyRow): Promise<SigningKey> =>
    ring.get({
      keyId: urls.publicKey(row.url),
      version: row.updated_at.getTime(),
      pem: () => secrets.open(row.private_key_sealed ?? ''),
    })

  return {
    find: async (keyId) => known.get(keyId) ?? (await findFresh(keyId)),
    findFresh,

    async forRequests(actorId) {
      return await rsaOf(await own.forceFetch(actorId))
    },

    async forDocuments(actorId) {
      const row = await own.forceFetch(actorId)
      const rsa = await rsaOf(row)
      const sealed = row.ed25519_private_sealed
      if (sealed === null) return { rsa }
      const ed25519 = await ring.get({
        keyId: urls.proofKey(row.url),
        version: row.updated_at.getTime(),
        pem: () => secrets.open(sealed),
      })
      return { rsa, ed25519 }
    },
  }
}

/** Proofs name a Multikey, HTTP and LD signatures the RSA key; the fragment decides if the actor has both. */
async function pemOf(row: PublicKeyRow, keyId: string): Promise<string | undefined> {
  if (keyId === row.key_id || row.ed25519_public === null || !/#.*(ed25519|multikey|key-2)/i.test(keyId)) {
    return row.public_key_pem ?? undefined
  }
  return await pemOfMultibase(row.ed25519_public)
}
