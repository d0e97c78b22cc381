// Origin-based trust (FEP-fe34): an object is what its own server says it is. All pure.

/** Scheme, host and port of an http(s) address; undefined for everything else. */
export function originOf(url: string): string | undefined {
  const parsed = URL.parse(url)
  return parsed && (parsed.protocol === 'https:' || parsed.protocol === 'http:') ? parsed.origin : undefined
}

/** Whether two ids were made by the same server. False when one of them is no http(s) address. */
export function isSameOrigin(one: string, other: string): boolean {
  const origin = originOf(one)
  return origin !== undefined && origin === originOf(other)
}

/** How far a document that came with an activity can be believed. */
export type Trust =
  /** Take it as it is. */
  | 'trusted'
  /** Ask the server of its id, and take that answer. */
  | 'refetch'
  | 'refused'

/** An activity is its actor's when the signer is the actor and its id was made by the actor's server. */
export function trustActivity(activity: { id: string; actor: string; signer: string }): Trust {
  if (activity.signer !== activity.actor) return 'refetch'
  return isSameOrigin(activity.id, activity.actor) ? 'trusted' : 'refused'
}

/**
 * An object inside an activity speaks for itself only when the actor's server made it, and when it is the actor's own,
 * if it says whose it is. Everything else is read from its own server.
 */
export function trustEmbedded(object: { id: string; attributedTo: string[]; actor: string }): Trust {
  if (originOf(object.id) === undefined) return 'refused'
  if (!isSameOrigin(object.id, object.actor)) return 'refetch'
  return object.attributedTo.every((owner) => isSameOrigin(owner, object.id)) ? 'trusted' : 'refused'
}

/**
 * A fetched document is what it says when it came from where its id is. Another address of the same server is asked
 * again under the id; a document with the id of another server is a claim about it, so that server is asked.
 */
export function trustFetched(document: { id: string; fetchedFrom: string }): Trust {
  if (originOf(document.id) === undefined) return 'refused'
  return withoutFragment(document.id) === withoutFragment(document.fetchedFrom) ? 'trusted' : 'refetch'
}

/** A key counts for an actor when both, and the key's owner, are of one server and name each other. */
export function trustKey(key: { keyId: string; owner: string; actor: { id: string; keyIds: string[] } }): boolean {
  return key.owner === key.actor.id && isSameOrigin(key.keyId, key.owner) && key.actor.keyIds.includes(key.keyId)
}

/** Update, Delete and Undo: only who made the thing, which its own server vouches for. */
export function mayChange(change: { actor: string; owner: string; objectId: string }): boolean {
  return change.actor === change.owner && isSameOrigin(change.objectId, change.owner)
}

const withoutFragment = (url: string): string => url.split('#', 1)[0] ?? url
