// Origin-based trust (FEP-fe34): an object is what its own server says it is. All pure.

/** Scheme, host and port of an http(s) address; undefined for everything else. */
export function originOf(url: string): string | undefined {
  const parsed = URL.parse(url)
  return parsed && (parsed.protocol === 'https:' || parsed.protocol === 'http:') ? parsed.origin : undefined
}

/** True if the same server made both ids. False unless both are http(s) addresses. */
export function isSameOrigin(one: string, other: string): boolean {
  const origin = originOf(one)
  return origin !== undefined && origin === originOf(other)
}

/** How far a document in an activity can be trusted. */
export type Trust =
  /** Accept it as it is. */
  | 'trusted'
  /** Fetch it from the server of its id, and trust that document. */
  | 'refetch'
  | 'refused'

/**
 * A fetched document is trusted if its id is its address. If the id is another address of the same server, that is fetched; if it is on
 * another server, the document is only a claim, so that server is asked.
 */
export function trustFetched(document: { id: string; fetchedFrom: string }): Trust {
  if (originOf(document.id) === undefined) return 'refused'
  return withoutFragment(document.id) === withoutFragment(document.fetchedFrom) ? 'trusted' : 'refetch'
}

/** A key is trusted for an actor if both, and the key's owner, are on one server and name each other. */
export function trustKey(key: { keyId: string; owner: string; actor: { id: string; keyIds: string[] } }): boolean {
  return key.owner === key.actor.id && isSameOrigin(key.keyId, key.owner) && key.actor.keyIds.includes(key.keyId)
}

const withoutFragment = (url: string): string => url.split('#', 1)[0] ?? url
