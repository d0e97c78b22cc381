// The JSON-LD contexts of local documents: the base that the reference sends, and one table per kind of document.

/** Raw JSON-LD. */
export type JsonObject = { [key: string]: unknown }

export type ContextKind =
  | 'base'
  | 'video'
  | 'playlist'
  | 'cache-file'
  | 'actor'
  | 'watch-action'
  | 'view'
  | 'comment'
  | 'reply-approval'
  | 'reply-rejection'
  | 'chapters'
  | 'flag'

export const AS_PUBLIC = 'https://www.w3.org/ns/activitystreams#Public'

const BASE = [
  'https://www.w3.org/ns/activitystreams',
  'https://w3id.org/security/v1',
  { RsaSignature2017: 'https://w3id.org/security#RsaSignature2017' },
]

const PREFIXES = { pt: 'https://joinpeertube.org/ns#', sc: 'http://schema.org/' }

const typed = (type: string, names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { '@type': `sc:${type}`, '@id': `pt:${name}` }]))
const links = (names: string[]) => Object.fromEntries(names.map((name) => [name, { '@id': `as:${name}`, '@type': '@id' }]))

const UUID = { uuid: { '@type': 'sc:identifier', '@id': 'pt:uuid' } }
const SUPPORT = typed('Text', ['support'])

const TABLES: Record<Exclude<ContextKind, 'base'>, JsonObject> = {
  video: {
    Hashtag: 'as:Hashtag',
    category: 'sc:category',
    licence: 'sc:license',
    subtitleLanguage: 'sc:subtitleLanguage',
    automaticallyGenerated: 'pt:automaticallyGenerated',
    sensitive: 'as:sensitive',
    language: 'sc:inLanguage',
    identifier: 'sc:identifier',
    isLiveBroadcast: 'sc:isLiveBroadcast',
    ...typed('Boolean', ['liveSaveReplay', 'permanentLive']),
    ...typed('Number', ['latencyMode']),
    Infohash: 'pt:Infohash',
    ...typed('Number', ['tileWidth', 'tileHeight', 'tileDuration']),
    ...typed('Float', ['aspectRatio']),
    ...UUID,
    originallyPublishedAt: 'sc:datePublished',
    uploadDate: 'sc:uploadDate',
    hasParts: 'sc:hasParts',
    ...typed('Number', ['views', 'state', 'size', 'fps']),
    ...typed('Boolean', ['commentsEnabled']),
    canReply: 'pt:canReply',
    ...typed('Number', ['commentsPolicy']),
    ...typed('Boolean', ['downloadEnabled', 'waitTranscoding']),
    ...SUPPORT,
    ...links(['likes', 'dislikes', 'shares', 'comments']),
    PropertyValue: 'sc:PropertyValue',
    value: 'sc:value',
  },
  playlist: {
    Playlist: 'pt:Playlist',
    PlaylistElement: 'pt:PlaylistElement',
    ...typed('Number', ['position', 'startTimestamp', 'stopTimestamp']),
    ...UUID,
  },
  'cache-file': {
    expires: 'sc:expires',
    CacheFile: 'pt:CacheFile',
    ...typed('Number', ['size', 'fps']),
  },
  actor: {
    playlists: { '@id': 'pt:playlists', '@type': '@id' },
    ...SUPPORT,
    lemmy: 'https://join-lemmy.org/ns#',
    postingRestrictedToMods: 'lemmy:postingRestrictedToMods',
    icons: 'as:icon',
    // FEP-2c59, FEP-5feb, FEP-521a: inlined, since the reference fetches every context that it does not know.
    webfinger: { '@id': 'https://purl.archive.org/socialweb/webfinger#webfinger', '@type': 'xsd:string' },
    xsd: 'http://www.w3.org/2001/XMLSchema#',
    toot: 'http://joinmastodon.org/ns#',
    indexable: 'toot:indexable',
    discoverable: 'toot:discoverable',
    manuallyApprovesFollowers: 'as:manuallyApprovesFollowers',
    assertionMethod: { '@id': 'sec:assertionMethod', '@type': '@id', '@container': '@set' },
    Multikey: 'sec:Multikey',
    controller: { '@id': 'sec:controller', '@type': '@id' },
    publicKeyMultibase: { '@id': 'sec:publicKeyMultibase', '@type': 'sec:multibase' },
  },
  'watch-action': {
    WatchAction: 'sc:WatchAction',
    ...typed('Number', ['startTimestamp', 'endTimestamp']),
    ...UUID,
    actionStatus: 'sc:actionStatus',
    watchSections: { '@type': '@id', '@id': 'pt:watchSections' },
    addressRegion: 'sc:addressRegion',
    addressCountry: 'sc:addressCountry',
  },
  view: {
    WatchAction: 'sc:WatchAction',
    InteractionCounter: 'sc:InteractionCounter',
    interactionType: 'sc:interactionType',
    userInteractionCount: 'sc:userInteractionCount',
  },
  comment: { replyApproval: 'pt:replyApproval' },
  'reply-approval': { ApproveReply: 'pt:ApproveReply' },
  'reply-rejection': { RejectReply: 'pt:RejectReply' },
  chapters: { hasPart: 'sc:hasPart', endOffset: 'sc:endOffset', startOffset: 'sc:startOffset' },
  flag: { Hashtag: 'as:Hashtag' },
}

/** The terms of an object proof (FEP-8b32), added by the signer. */
export const PROOF_TERMS: JsonObject = {
  DataIntegrityProof: 'sec:DataIntegrityProof',
  proof: { '@id': 'sec:proof', '@type': '@id' },
  cryptosuite: 'sec:cryptosuite',
  proofPurpose: { '@id': 'sec:proofPurpose', '@type': '@vocab' },
  assertionMethod: { '@id': 'sec:assertionMethod', '@type': '@id', '@container': '@set' },
  proofValue: { '@id': 'sec:proofValue', '@type': 'sec:multibase' },
  verificationMethod: { '@id': 'sec:verificationMethod', '@type': '@id' },
}

/** The `@context` of a document of this kind. A new value each time, so that a signer may add to it. */
export function contextOf(kind: ContextKind): unknown[] {
  return kind === 'base' ? [...BASE] : [...BASE, { ...PREFIXES, ...TABLES[kind] }]
}

/** The same for a document with embedded ones, with the terms of them all. */
export const mergedContext = (...kinds: Exclude<ContextKind, 'base'>[]): unknown[] => [
  ...BASE,
  Object.assign({ ...PREFIXES }, ...kinds.map((kind) => TABLES[kind])),
]

/** The document with the context of its kind first. An embedded document needs none. */
export function withContext(kind: ContextKind, document: JsonObject): JsonObject {
  return { '@context': contextOf(kind), ...document }
}

/** The document for embedding. */
export function withoutContext(document: JsonObject): JsonObject {
  const { '@context': _context, ...rest } = document
  return rest
}

const KIND_OF_TYPE: Record<string, ContextKind> = {
  Video: 'video',
  Playlist: 'playlist',
  PlaylistElement: 'playlist',
  CacheFile: 'cache-file',
  Person: 'actor',
  Group: 'actor',
  Application: 'actor',
  Service: 'actor',
  Organization: 'actor',
  WatchAction: 'watch-action',
  View: 'view',
  Note: 'comment',
  Tombstone: 'comment',
  ApproveReply: 'reply-approval',
  RejectReply: 'reply-rejection',
  Flag: 'flag',
}

/** The kind of a document by its own type, or by its object (`Undo` of `Create` of `CacheFile`). */
export function kindOf(document: unknown, depth = 0): ContextKind {
  if (typeof document !== 'object' || document === null || Array.isArray(document) || depth > 3) return 'base'
  const type = 'type' in document ? document.type : undefined
  const own = typeof type === 'string' && Object.hasOwn(KIND_OF_TYPE, type) ? KIND_OF_TYPE[type] : undefined
  return own ?? kindOf('object' in document ? document.object : undefined, depth + 1)
}
