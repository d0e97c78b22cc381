// The checks of a PeerTube node on documents, as predicates over raw JSON (not JSON-LD).

type Json = Record<string, unknown>
type Check = (document: Json) => string[]

/** Reasons for which the reference would drop this document; empty when it accepts it. */
export function oracleProblems(document: unknown): string[] {
  if (!isJson(document)) return ['not an object']
  if (document['@context'] !== undefined && !Array.isArray(document['@context'])) return ['@context is not a list']
  if (typeof document.type !== 'string') return ['type is not a single text']
  const check = CHECKS[document.type]
  return check ? [...common(document), ...check(document)] : [`type ${document.type} is not known`]
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** http(s), with a top-level domain, up to 2,000 characters. */
function isAddress(value: unknown): boolean {
  if (typeof value !== 'string' || value.length < 3 || value.length > 2000) return false
  const url = URL.parse(value)
  return url !== null && /^https?:$/.test(url.protocol) && /\.[a-z][a-z0-9-]*$/.test(url.hostname)
}

const isDate = (value: unknown): boolean => typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value))
const isText = (value: unknown, min: number, max: number): boolean =>
  typeof value === 'string' && value.length >= min && value.length <= max
const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0
const isLabelled = (value: unknown): boolean => value === undefined || (isJson(value) && typeof value.identifier === 'string')
const PUBLIC = new Set(['https://www.w3.org/ns/activitystreams#Public', 'as:Public', 'Public'])

const must = (problem: string, holds: boolean): string[] => (holds ? [] : [problem])
const addresses = (value: unknown): boolean => Array.isArray(value) && value.every(isAddress)

const common: Check = (document) => [
  ...must('id', isAddress(document.id)),
  ...must('to', document.to === undefined || addresses(document.to)),
  ...must('cc', document.cc === undefined || addresses(document.cc)),
]

const activity =
  (object: (value: unknown) => string[]): Check =>
  (document) => [
    ...must('actor', isAddress(typeof document.actor === 'string' ? document.actor : idOf(document.actor))),
    ...object(document.object).map((problem) => `object: ${problem}`),
  ]

const idOf = (value: unknown): unknown => (isJson(value) ? value.id : value)
const address = (value: unknown): string[] => must('not an address', isAddress(value))
const reference = (value: unknown): string[] => must('not a reference', isAddress(idOf(value)))
const embedded =
  (...types: string[]) =>
  (value: unknown): string[] =>
    isJson(value) && types.includes(String(value.type)) ? oracleProblems(value) : [`not one of ${types.join(', ')}, embedded`]

const video: Check = (document) => [
  ...must('name', isText(document.name, 3, 120)),
  ...must('uuid', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(String(document.uuid))),
  ...must('duration', /^PT\d+S$/.test(String(document.duration))),
  ...must('category', isLabelled(document.category)),
  ...must('licence', isLabelled(document.licence)),
  ...must('language', isLabelled(document.language)),
  ...must('views', isCount(document.views)),
  ...must('sensitive', typeof document.sensitive === 'boolean'),
  ...must('published', isDate(document.published)),
  ...must('updated', isDate(document.updated)),
  ...must('originallyPublishedAt', document.originallyPublishedAt === null || isDate(document.originallyPublishedAt)),
  ...must('mediaType', ['text/markdown', 'text/html'].includes(String(document.mediaType))),
  ...must('content', document.content === null || typeof document.content === 'string'),
  ...must('support', document.support === null || isText(document.support, 1, 1000)),
  ...must('commentsPolicy', [1, 2, 3].includes(Number(document.commentsPolicy))),
  ...must('commentsEnabled', document.commentsEnabled === (document.commentsPolicy !== 2)),
  ...must('canReply', (document.canReply === null) === (document.commentsPolicy === 1)),
  ...must('attributedTo', Array.isArray(document.attributedTo) && document.attributedTo.length > 0),
  ...must(
    'attributedTo',
    list(document.attributedTo).some((one) => one.type === 'Group' && isAddress(one.id)),
  ),
  ...must(
    'tag',
    list(document.tag).every((tag) => tag.type !== 'Hashtag' || isText(tag.name, 2, 30)),
  ),
  ...must('tag', Array.isArray(document.tag)),
  ...must('subtitleLanguage', Array.isArray(document.subtitleLanguage)),
  ...must('subtitleLanguage', list(document.subtitleLanguage).every(isCaption)),
  ...must('waitTranscoding', typeof document.waitTranscoding === 'boolean'),
  ...must('downloadEnabled', typeof document.downloadEnabled === 'boolean'),
  ...must('state', document.state === undefined || (isCount(document.state) && Number(document.state) > 0)),
  ...must('aspectRatio', document.aspectRatio === null || typeof document.aspectRatio === 'number'),
  ...['likes', 'dislikes', 'shares', 'comments', 'hasParts'].flatMap((key) => must(key, isAddress(document[key]))),
  ...must('icon', Array.isArray(document.icon) && list(document.icon).some(isThumbnail)),
  ...must('preview', document.preview === undefined || list(document.preview).every(isStoryboard)),
  ...must('url', Array.isArray(document.url) && list(document.url).every(isLink)),
  ...must(
    'live',
    document.isLiveBroadcast === true
      ? ['liveSaveReplay', 'permanentLive'].every((key) => typeof document[key] === 'boolean') &&
          [1, 2, 3].includes(Number(document.latencyMode))
      : ['liveSaveReplay', 'permanentLive', 'latencyMode'].every((key) => document[key] === null),
  ),
]

const list = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : [])

/** One URL of a WebVTT file, not a list of links. */
const isCaption = (caption: Json): boolean =>
  isText(caption.identifier, 1, 20) &&
  typeof caption.name === 'string' &&
  typeof caption.automaticallyGenerated === 'boolean' &&
  isAddress(caption.url) &&
  /\.vtt$/.test(String(caption.url))

const isThumbnail = (icon: Json): boolean =>
  icon.type === 'Image' && icon.mediaType === 'image/jpeg' && isAddress(icon.url) && isCount(icon.width) && isCount(icon.height)

const isStoryboard = (preview: Json): boolean =>
  preview.type === 'Image' &&
  Array.isArray(preview.rel) &&
  list(preview.url).some(
    (one) =>
      one.mediaType === 'image/jpeg' &&
      isAddress(one.href) &&
      isCount(one.width) &&
      isCount(one.height) &&
      isCount(one.tileWidth) &&
      isCount(one.tileHeight) &&
      /^PT\d+S$/.test(String(one.tileDuration)),
  )

const sized = (link: Json): boolean => isCount(link.height) && Number.isInteger(link.fps)

/** Each link has one of the known forms; the reference drops others. */
function isLink(link: Json): boolean {
  if (link.type !== 'Link') return false
  const rel = Array.isArray(link.rel) ? link.rel : []
  if (rel.includes('tracker')) return typeof link.name === 'string' && typeof link.href === 'string'
  if (link.mediaType === 'text/html') return isAddress(link.href)
  if (link.mediaType === 'application/x-mpegURL')
    return isAddress(link.href) && list(link.tag).every((tag) => tag.type === 'Infohash' || isLink(tag))
  if (link.mediaType === 'application/json')
    return isAddress(link.href) && (link.name === 'sha256' || (rel[0] === 'metadata' && sized(link)))
  if (link.mediaType === 'application/x-bittorrent') return isAddress(link.href) && sized(link)
  if (link.mediaType === 'application/x-bittorrent;x-scheme-handler/magnet') return String(link.href).startsWith('magnet:?') && sized(link)
  return (
    ['video/mp4', 'video/webm', 'video/ogg', 'audio/mp4'].includes(String(link.mediaType)) &&
    isAddress(link.href) &&
    isCount(link.size) &&
    sized(link) &&
    list(link.attachment).every((one) => one.type === 'PropertyValue' && typeof one.value === 'string')
  )
}

const note: Check = (document) => [
  ...must('content', isText(document.content, 1, 10_000)),
  ...must('url', isAddress(document.url)),
  ...must('inReplyTo', isAddress(document.inReplyTo)),
  ...must('published', isDate(document.published)),
  ...must('attributedTo', isAddress(idOf(document.attributedTo))),
  ...must('to', Array.isArray(document.to)),
  ...must(
    'public',
    [...asTexts(document.to), ...asTexts(document.cc)].some((one) => PUBLIC.has(one)),
  ),
]

const asTexts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

const picture = (value: unknown): boolean =>
  value === undefined ||
  (isJson(value) &&
    value.type === 'Image' &&
    isAddress(value.url) &&
    value.mediaType === 'image/jpeg' &&
    isCount(value.width) &&
    isCount(value.height))

const playlist: Check = (document) => [
  ...must('totalItems', isCount(document.totalItems)),
  ...must('uuid', UUID.test(String(document.uuid))),
  ...must('name', isText(document.name, 1, 120)),
  ...must('content', document.content === null || isText(document.content, 3, 1000)),
  ...must('attributedTo', Array.isArray(document.attributedTo) && document.attributedTo.length === 1),
  ...must('attributedTo', list(document.attributedTo).length === 0 && addresses(document.attributedTo)),
  ...must('published', isDate(document.published)),
  ...must('updated', isDate(document.updated)),
  ...must('icon', picture(document.icon)),
  ...must('first', document.first === undefined || isAddress(document.first)),
  ...must('next', document.next === undefined || isAddress(document.next)),
  ...must('orderedItems', document.orderedItems === undefined || addresses(document.orderedItems)),
]

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const isTimestamp = (value: unknown): boolean => value === undefined || isCount(value)
const playlistElement: Check = (document) => [
  ...must('url', isAddress(document.url)),
  ...must('position', isCount(document.position) && Number(document.position) >= 1),
  ...must('startTimestamp', isTimestamp(document.startTimestamp)),
  ...must('stopTimestamp', isTimestamp(document.stopTimestamp)),
]

const view: Check = (document) => [
  ...activity(reference)(document),
  ...must('expires', document.expires === undefined || isDate(document.expires)),
  ...must('result', document.result === undefined || isCounter(document.result)),
]

const isCounter = (value: unknown): boolean =>
  isJson(value) && value.type === 'InteractionCounter' && value.interactionType === 'WatchAction' && isCount(value.userInteractionCount)

const watchAction: Check = (document) => [
  ...must('uuid', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(String(document.uuid))),
  ...must('object', isAddress(document.object)),
  ...must('actionStatus', document.actionStatus === 'CompletedActionStatus'),
  ...must('duration', /^PT\d+S$/.test(String(document.duration))),
  ...must('startTime', isDate(document.startTime)),
  ...must('endTime', isDate(document.endTime)),
  ...must('location', document.location === undefined || isLocation(document.location)),
  ...must('watchSections', Array.isArray(document.watchSections)),
  ...must(
    'watchSections',
    list(document.watchSections).every((one) => isCount(one.startTimestamp) && isCount(one.endTimestamp)),
  ),
]

const isLocation = (value: unknown): boolean =>
  isJson(value) &&
  typeof value.addressCountry === 'string' &&
  (value.addressRegion === undefined || typeof value.addressRegion === 'string')

const FLAG_REASONS = new Set(
  'violentOrRepulsive hatefulOrAbusive spamOrMisleading privacy rights serverRules thumbnails captions'.split(' '),
)

const flag: Check = (document) => [
  ...must('content', isText(document.content, 2, 3000)),
  ...must('mediaType', document.mediaType === 'text/markdown'),
  ...must('startAt', document.startAt === undefined || isCount(document.startAt)),
  ...must('endAt', document.endAt === undefined || Number(document.endAt) > Number(document.startAt ?? -1)),
  ...must(
    'tag',
    Array.isArray(document.tag) && list(document.tag).every((tag) => tag.type === 'Hashtag' && FLAG_REASONS.has(String(tag.name))),
  ),
]
const cacheFile: Check = (document) => {
  const link = isJson(document.url) ? document.url : {}
  const isPlaylist = link.mediaType === 'application/x-mpegURL' && isAddress(link.href)
  const isFile =
    ['video/mp4', 'video/webm', 'video/ogg', 'audio/mp4'].includes(String(link.mediaType)) &&
    isAddress(link.href) &&
    isCount(link.height) &&
    isCount(link.size) &&
    (link.fps === undefined || (Number.isInteger(link.fps) && Number(link.fps) >= -1))
  return [
    ...must('object', isAddress(document.object)),
    ...must('expires', document.expires === null || isDate(document.expires)),
    ...must('url', link.type === 'Link' && (isPlaylist || isFile)),
  ]
}

const tombstone: Check = (document) => must('formerType', document.formerType === 'Note')

const actor: Check = (document) => {
  const key = isJson(document.publicKey) ? document.publicKey : {}
  const endpoints = isJson(document.endpoints) ? document.endpoints : undefined
  const isGroup = document.type === 'Group'
  const owners = list(document.attributedTo)
  return [
    ...must('preferredUsername', /^[a-zA-Z0-9\-_.:]+$/.test(String(document.preferredUsername))),
    ...['inbox', 'outbox', 'followers', 'following'].flatMap((name) => must(name, isAddress(document[name]))),
    ...must('playlists', document.playlists === undefined || isAddress(document.playlists)),
    ...must('url', document.url === undefined || isAddress(document.url) || Array.isArray(document.url)),
    ...must('endpoints', document.endpoints === undefined || isAddress(endpoints?.sharedInbox)),
    ...must('publicKey.id', isAddress(key.id)),
    ...must('publicKey.owner', key.owner === document.id),
    ...must('publicKeyPem', /^-----BEGIN PUBLIC KEY-----[\s\S]+-----END PUBLIC KEY-----\s*$/.test(String(key.publicKeyPem))),
    ...must('published', document.published === undefined || isDate(document.published)),
    ...must('owner', !isGroup || owners.some((one) => one.type === 'Person' && hostOf(one.id) === hostOf(document.id))),
  ]
}

const hostOf = (value: unknown): string | undefined => URL.parse(String(value))?.host

const collection: Check = (document) => [
  ...must('totalItems', isCount(document.totalItems)),
  ...must('first', document.first === undefined || isAddress(document.first)),
  ...must('next', document.next === undefined || isAddress(document.next)),
  ...must('orderedItems', document.orderedItems === undefined || Array.isArray(document.orderedItems)),
]

const CHECKS: Record<string, Check> = {
  Create: activity(embedded('Video', 'Note', 'CacheFile', 'Playlist', 'WatchAction')),
  Update: activity(embedded('Video', 'CacheFile', 'Playlist', 'Person', 'Group', 'Application')),
  Delete: activity(reference),
  Announce: activity(reference),
  Flag: (document) => [...activity(address)(document), ...flag(document)],
  Like: activity(reference),
  Dislike: activity(reference),
  Follow: activity(reference),
  Accept: activity(embedded('Follow')),
  Reject: activity(embedded('Follow')),
  Undo: activity(embedded('Follow', 'Like', 'Dislike', 'Announce', 'Create')),
  ApproveReply: (document) => [...activity(address)(document), ...must('inReplyTo', isAddress(document.inReplyTo))],
  RejectReply: (document) => [...activity(address)(document), ...must('inReplyTo', isAddress(document.inReplyTo))],
  View: view,
  WatchAction: watchAction,
  Video: video,
  Note: note,
  CacheFile: cacheFile,
  Tombstone: tombstone,
  Playlist: playlist,
  PlaylistElement: playlistElement,
  Person: actor,
  Group: actor,
  Application: actor,
  OrderedCollection: collection,
  OrderedCollectionPage: collection,
}
