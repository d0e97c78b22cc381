// Actors of other servers: looked up in our tables first, fetched when unknown or grown old.

import type { RemoteActor, RemoteActors, StoredActor } from '../../actors/actor/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { blockedHere } from '../blocked.ts'
import type { FederationDeps } from '../deps.ts'
import { isSameOrigin, type SignatureProfile, trustKey } from '../security/index.ts'
import { type ActorDocument, readActor } from '../wire/index.ts'
import { type FetchDocument, type FetchedDocument, isHopeless } from './documents.ts'
import { makeNewHosts } from './new-hosts.ts'

/**
 * The stored actor; fetched when it is not stored, or was fetched more than `maxAgeMs` ago. Without `maxAgeMs` one that has
 * grown old is given, and refreshed by a job. `fetched`: what was fetched at the URL already. `storedIfBlocked`: a blocked actor is
 * given as it is stored. Throws DomainError, else also for a blocked one.
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
    // An actor that we know stays usable until a job has read it anew, unless the caller wants it fresh.
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
      // It is known by its id, whatever other addresses lead to it, and that may be of another server.
      await blocked.refuseActor(actor.url)
      await newHosts.admit(actor.host)
    }
    if (actor.type === 'Group') await saveOwner(actor)
    const stored = await remoteActors.save(actor, { profile })
    newHosts.note(actor.host)
    return stored
  }

  /** Stores the first account among the owners that a group names. Throws DomainError `unprocessable` when there is none. */
  async function saveOwner(group: RemoteActor): Promise<void> {
    const refusals: string[] = []
    for (const url of group.ownerUrls) {
      await blocked.refuseActor(url)
      const known = await remoteActors.find(url)
      if (known && known.accountId !== null) return
      try {
        const { actor, profile } = await fetchOne(url)
        // Groups that own each other would be followed for ever.
        if (actor.type === 'Group') throw new DomainError('unprocessable', 'it is a group and owns no other')
        return void (await remoteActors.save(actor, { profile }))
      } catch (error) {
        // That an owner is gone says nothing of the group: its own address does.
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

/** Owners of a group that are looked at for an account. */
const MAX_OWNERS = 5

/** What we store of a document. Throws DomainError `forbidden` when it speaks for another server. */
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
