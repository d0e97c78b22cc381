// The channel of a remote video or playlist, and the account that owns it. Documents name both, or one of them, in newer versions by bare
// ids: the fetched actor tells which it is.

import type { StoredActor } from '../../actors/actor/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { FederationDeps } from '../deps.ts'
import { isSameOrigin } from '../security/index.ts'
import type { Attribution } from '../wire/index.ts'
import type { ResolveActor } from './actors.ts'
import { isHopeless } from './documents.ts'

export interface Owners {
  /** The actor of the channel. */
  channel: StoredActor & { channelId: number }
  accountId: number
  accountUrl: string
}

interface Owned {
  id: string
  attributedTo: readonly Attribution[]
  audience: readonly string[]
}

/** Throws DomainError `forbidden` if a document names owners of another server, or an account that does not own the channel. */
export type ResolveOwners = (document: Owned) => Promise<Owners>

export function makeResolveOwners(deps: FederationDeps & { resolveActor: ResolveActor }): ResolveOwners {
  const { db, config, resolveActor } = deps

  async function channelOf({ id, attributedTo, audience }: Owned): Promise<StoredActor & { channelId: number }> {
    const foreign = attributedTo.find((owner) => !isSameOrigin(owner.id, id))
    if (foreign) throw new DomainError('forbidden', `${id} is attributed to ${foreign.id}, which is of another server.`)
    const candidates = [
      ...attributedTo.filter(({ type }) => type !== 'Person').map((owner) => owner.id),
      ...audience.filter((url) => isSameOrigin(url, id)),
      ...attributedTo.filter(({ type }) => type === 'Person').map((owner) => owner.id),
    ]
    for (const url of new Set(candidates)) {
      const actor = await actorAt(url)
      if (actor && actor.channelId !== null) return { ...actor, channelId: actor.channelId }
    }
    throw new DomainError('forbidden', `${id} has no channel of its own server.`)
  }

  /** Undefined unless it is an actor. */
  async function actorAt(url: string): Promise<StoredActor | undefined> {
    try {
      return await resolveActor(url)
    } catch (error) {
      if (!isHopeless(error) || (error instanceof DomainError && error.kind === 'forbidden')) throw error
      return undefined
    }
  }

  async function ownerOf(channelId: number): Promise<{ accountId: number; accountUrl: string }> {
    const [owner] = await db.query<{ accountId: number; accountUrl: string }>(
      `select a.id as "accountId", x.url as "accountUrl"
       from channel c join account a on a.id = c.account_id join actor x on x.id = a.actor_id where c.id = $1`,
      [channelId],
    )
    if (!owner) throw new DomainError('gone', 'This channel was removed.')
    return owner
  }

  return async (document) => {
    const channel = await channelOf(document)
    const owner = await ownerOf(channel.channelId)
    const others = document.attributedTo.filter(({ id, type }) => id !== channel.url && type !== 'Group')
    const isNamed = ({ accountUrl }: { accountUrl: string }) => others.some(({ id }) => id === accountUrl)
    if (others.length === 0 || isNamed(owner)) return { channel, ...owner }
    // The channel may have a new owner since it was read.
    await resolveActor(channel.url, { maxAgeMs: config().vireo.federation.inbox.key_refetch_after })
    const ownerNow = await ownerOf(channel.channelId)
    if (isNamed(ownerNow)) return { channel, ...ownerNow }
    for (const { id } of others) {
      if ((await actorAt(id))?.channelId != null) continue
      throw new DomainError('forbidden', `${id} does not own ${channel.url}.`)
    }
    return { channel, ...ownerNow }
  }
}
