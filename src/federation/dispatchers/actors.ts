// Actors, their keys and WebFinger. One dispatcher serves all actors: the identifier is the path.

import type { Federation } from '@fedify/fedify/federation'
import { Application, Group, Person } from '@fedify/vocab'
import { importMultibaseKey, importPem } from '@fedify/vocab-runtime'
import { actorDocument } from '../documents/index.ts'
import { loadBundledContext } from '../security/contexts.ts'
import type { Urls } from '../urls.ts'
import type { JsonObject } from '../wire/index.ts'
import type { DispatcherDeps, RequestData } from './deps.ts'

const CLASSES = { Person, Group, Application } as const

export function dispatchActors(federation: Federation<RequestData>, deps: DispatcherDeps): void {
  const { db, urls, config, keys } = deps

  federation
    .setActorDispatcher('/{+identifier}', async (_context, identifier) => {
      const where = actorOf(urls, identifier)
      const document = where && (await actorDocument(db.query, urls, config(), where))
      return document ? await typed(document) : null
    })
    .setKeyPairsDispatcher(async (_context, identifier) => {
      const where = actorOf(urls, identifier)
      if (!where) return []
      const url = where.kind === 'channel' ? urls.channel(where.name) : urls.account(where.name)
      const [row] = await db.query<{ id: number; public_key_pem: string; ed25519_public: string | null }>(
        `select id, public_key_pem, ed25519_public from actor
         where url_hash = md5($1)::uuid and url = $1 and host_id is null and deleted_at is null`,
        [url],
      )
      if (!row) return []
      const { rsa, ed25519 } = await keys.forDocuments(row.id)
      const pairs = [{ privateKey: rsa.privateKey, publicKey: await importPem(row.public_key_pem) }]
      if (ed25519 && row.ed25519_public !== null) {
        pairs.push({ privateKey: ed25519.privateKey, publicKey: await importMultibaseKey(row.ed25519_public) })
      }
      return pairs
    })
}

/** The actor that an identifier names: `accounts/name` or `video-channels/name`. */
function actorOf(urls: Urls, identifier: string): { kind: 'account' | 'channel'; name: string } | undefined {
  const parsed = urls.parse(`${urls.origin}/${identifier}`)
  if (parsed?.activity !== null || (parsed.kind !== 'account' && parsed.kind !== 'channel')) return undefined
  return { kind: parsed.kind, name: parsed.name }
}

/** The typed object that Fedify requires. It caches the document, so that serialising returns all of its terms. */
function typed(document: JsonObject): Promise<Person | Group | Application> {
  const type = document.type === 'Group' || document.type === 'Application' ? document.type : 'Person'
  const options = { contextLoader: loadBundledContext, documentLoader: loadBundledContext }
  return CLASSES[type].fromJsonLd(document, options)
}
