// Remote actors: read from the database, and fetched if unknown or stale.

import type { RemoteActor, RemoteActors, StoredActor } from '../../actors/actor/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { blockedHere } from '../blocked.ts'
import type { FederationDeps } from '../deps.ts'
import { isSameOrigin, type SignatureProfile, trustKey } from '../security/index.ts'
import { type ActorDocument, readActor } from '../wire/index.ts'
import { type FetchDocument, type FetchedDocument, isHopeless } from './documents.ts'
import { makeNewHosts } from './new-hosts.ts'

/**
 * The stored actor. It is fetched if it is unknown, or older than `maxAgeMs`. Without `maxAgeMs`, a stale actor is returned, and a job
 * refreshes it. `fetched`: a document that was fetched at the URL already. `storedIfBlocked`: returns a blocked actor as it is stored.
 * Throws DomainError, also for a blocked actor otherwise.
 */
export type ResolveActor = (
  url: string,
  options?: { maxAgeMs?: number; fetched?: FetchedDocument; storedIfBlocked?: boolean },
) => Promise<StoredActor>

export function makeResolveActor(deps: FederationDeps & { fetchDocument: FetchDocument; remoteActors: RemoteActors }): ResolveActor {
  const { fetchDocument, remoteActors, clock, config, blocked } = deps
  const newHosts = makeNewHosts(deps)

  async function resolve(
    url: string,
    options: { maxAgeMs?: number; fetched?: FetchedDocument; storedIfBlocked?: boolean } = {},
  ): Promise<StoredActor> {
    const maxAge = options.maxAgeMs ?? config().vireo.federation.refresh.actor
    const [known, isBlocked] = await Promise.all([remoteActors.find(url), blocked.actor(url)])
    if (known && isBlocked && options.storedIfBlocked) return known
    if (isBlocked) throw blockedHere(url)
    if (known && clock.now().getTime() - (known.refreshedAt?.getTime() ?? 0) <= maxAge) return known
    // A known actor stays usable until a job has refreshed it, unless the caller wants it fresh.
    if (known && options.maxAgeMs === undefined) {
      await remoteActors.askRefresh(known.id)
      return known
    }
    return await fetchAndSave(url, known !== undefined, options.fetched)
  }

  async function fetchAndSave(url: string, known: boolean, fetched?: FetchedDocument): Promise<StoredActor> {
    if (!known) await newHosts.admit(new URL(url).host)
    const { actor, profile } = await fetchOne(url, fetched)
    if (known && actor.url !== url) throw new DomainError('forbidden', `${url} leads to another actor now.`)
    if (actor.url !== url) {
      // Its id decides, whatever address led to it, and may belong to another server.
      await blocked.refuseActor(actor.url)
      await newHosts.admit(actor.host)
    }
    if (actor.type === 'Group') await saveOwner(actor)
    const stored = await remoteActors.save(actor, { profile })
    newHosts.note(actor.host)
    return stored
  }

  /** Stores the first account among the owners that a group names. Throws DomainError `unprocessable` if there is none. */
  async function saveOwner(group: RemoteActor): Promise<void> {
    const refusals: string[] = []
    for (const url of group.ownerUrls) {
      await blocked.refuseActor(url)
      const known = await remoteActors.find(url)
      if (known && known.accountId !== null) return
      try {
        const { actor, profile } = await fetchOne(url)
        // Groups that own each other would be followed forever.
        if (actor.type === 'Group') throw new DomainError('unprocessable', 'it is a group and owns no other')
        return void (await remoteActors.save(actor, { profile }))
      } catch (error) {
        // A missing owner does not mean that the group is gone: its own address tells.
        if (!(error instanceof DomainError && isHopeless(error))) throw error
        refusals.push(`${url} cannot be had: ${error.message}`)
      }
    }
    throw new DomainError('unprocessable', `${group.url} has no account. ${refusals.join(' ')}`)
  }

  async function fetchOne(url: string, fetched?: FetchedDocument): Promise<{ actor: RemoteActor; profile: SignatureProfile }> {
    const { document, profile } = fetched ?? (await fetchDocument(url))
    const read = readActor(document)
    if (!read.ok) throw new DomainError('unprocessable', `${url} is no usable actor: ${read.problem}`)
    return { actor: toRemoteActor(read.value), profile }
  }

  return resolve
}

/** Limit of owners of a group that are tried. */
const MAX_OWNERS = 5

/** Maps a document to the stored actor. Throws DomainError `forbidden` if it names another server. */
export function toRemoteActor(document: ActorDocument): RemoteActor {
  const { id, publicKey } = document
  const own = (url: string | null) => (url !== null && isSameOrigin(url, id) ? url : null)
  const keyIds = [publicKey.id, ...document.multikeys.map((key) => key.id)]
  if (!isSameOrigin(document.inbox, id)) throw new DomainError('forbidden', `The inbox of ${id} is on another server.`)
  if (!trustKey({ keyId: publicKey.id, owner: publicKey.owner, actor: { id, keyIds } })) {
    throw new DomainError('forbidden', `The key of ${id} is not its own.`)
  }
  const owners = document.attributedTo.filter((url) => isSameOrigin(url, id)).slice(0, MAX_OWNERS)
  if (document.type === 'Group' && owners.length === 0) {
    throw new DomainError('unprocessable', `The group ${id} has no account of its own server.`)
  }
  return {
    type: document.type,
    url: id,
    host: new URL(id).host,
    username: document.username,
    name: document.name,
    summary: document.summary,
    support: document.support,
    inboxUrl: document.inbox,
    sharedInboxUrl: own(document.sharedInbox),
    outboxUrl: own(document.outbox),
    followersUrl: own(document.followers),
    followingUrl: own(document.following),
    keyId: publicKey.id,
    publicKeyPem: publicKey.pem,
    ed25519Public: document.multikeys.find((key) => key.publicKeyMultibase.startsWith('z6Mk'))?.publicKeyMultibase ?? null,
    createdAt: document.publishedAt,
    ownerUrls: document.type === 'Group' ? owners : [],
    images: [
      ...document.icons.map((image) => ({
        type: 1 as const,
        fileUrl: image.url,
        width: image.width,
        height: image.height,
      })),
      ...document.banners.map((image) => ({
        type: 2 as const,
        fileUrl: image.url,
        width: image.width,
        height: image.height,
      })),
    ],
  }
}
