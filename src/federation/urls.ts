// All ActivityPub addresses of this node, in PeerTube's form: remote nodes and REST clients store them.

import { hash } from 'node:crypto'
import { isUuid } from '../platform/ids.ts'

/** The name of the instance actor, in its address and in WebFinger. */
const INSTANCE_NAME = 'peertube'

const COLLECTIONS = ['inbox', 'outbox', 'followers', 'following', 'playlists'] as const
export type ActorCollection = (typeof COLLECTIONS)[number]

const VIDEO_COLLECTIONS = ['announces', 'comments', 'likes', 'dislikes', 'chapters'] as const
export type VideoCollection = (typeof VIDEO_COLLECTIONS)[number]

/** The meaning of a local address. `id`s are database ids in decimal. */
export type OwnAddress =
  | { kind: 'account' | 'channel'; name: string }
  | { kind: 'actor-collection'; owner: 'account' | 'channel'; name: string; collection: ActorCollection }
  | { kind: 'follower-synchronization'; owner: 'account' | 'channel'; name: string }
  | { kind: 'shared-inbox' }
  | { kind: 'video' | 'playlist' | 'watch-action'; uuid: string }
  | { kind: 'video-collection'; uuid: string; collection: VideoCollection }
  | { kind: 'comment' | 'comment-approval' | 'comment-replies'; uuid: string; id: string }
  | { kind: 'announce'; uuid: string; actorId: string }
  | { kind: 'rate'; owner: 'account' | 'channel'; name: string; rating: 'like' | 'dislike'; videoId: string }
  | { kind: 'follow'; owner: 'account' | 'channel'; name: string; id: string }
  | { kind: 'view'; owner: 'account' | 'channel'; name: string; videoId: string; viewerId: string }
  | { kind: 'accept'; id: string }
  | { kind: 'reject'; date: string }
  | { kind: 'report'; id: string }
  | { kind: 'playlist-element'; uuid: string; id: string }
  | { kind: 'file-redundancy'; uuid: string; resolution: string; fps: string | null }
  | { kind: 'playlist-redundancy'; uuid: string }

/** An address with the derived activity that its suffix names, if any: `/delete`, `/undo`, `/updates/…`, `/activity`. */
export type ParsedAddress = OwnAddress & { activity: 'create' | 'update' | 'delete' | 'undo' | null }

/** Addresses of files in object storage. */
export interface ObjectAddresses {
  /** Undefined if this server proxies the file. */
  addressOf(file: { kind: 'web_videos' | 'streaming_playlists'; name: string }): string | undefined
  /** Origins of all the buckets that readers may be redirected to. */
  origins: readonly string[]
}

const NOWHERE: ObjectAddresses = { addressOf: () => undefined, origins: [] }

export type Urls = ReturnType<typeof makeUrls>

/** The builders for a node whose public origin is `origin`, such as `https://video.example`. Pure. */
export function makeUrls(origin: string, { addressOf: objectAddress, origins: bucketOrigins }: ObjectAddresses = NOWHERE) {
  const { host, protocol } = new URL(origin)
  const at = (path: string) => `${protocol}//${host}${path}`
  const video = (uuid: string) => at(`/videos/watch/${uuid}`)
  const playlist = (uuid: string) => at(`/video-playlists/${uuid}`)
  const account = (name: string) => at(`/accounts/${name}`)
  const instance = account(INSTANCE_NAME)
  return {
    origin: at(''),
    host,
    objectAddress,
    bucketOrigins,
    instance,
    sharedInbox: at('/inbox'),
    account,
    channel: (name: string) => at(`/video-channels/${name}`),
    actorCollection: (actor: string, collection: ActorCollection) => `${actor}/${collection}`,
    /** The list of an actor's followers on the requesting server (FEP-8fcf). */
    followerSynchronization: (actor: string) => `${actor}/followers_synchronization`,
    /** The RSA key, by the fragment that every implementation resolves to the actor. */
    publicKey: (actor: string) => `${actor}#main-key`,
    /** The Ed25519 key of FEP-521a. */
    proofKey: (actor: string) => `${actor}#ed25519-key`,

    video,
    videoCollection: (uuid: string, collection: VideoCollection) => `${video(uuid)}/${collection}`,
    comment: (uuid: string, commentId: string | number) => `${video(uuid)}/comments/${commentId}`,
    commentReplies: (comment: string) => `${comment}/replies`,
    commentApproval: (comment: string) => `${comment}/approve-reply`,
    commentRefusal: (comment: string) => `${comment}/reject-reply`,
    announce: (videoUrl: string, actorId: string | number) => `${videoUrl}/announces/${actorId}`,
    /** Address of an activity that a channel forwards. */
    announcement: (actor: string, activityId: string) => `${actor}/announces/${hash('sha256', activityId).slice(0, 32)}`,
    like: (actor: string, videoId: string | number) => `${actor}/likes/${videoId}`,
    dislike: (actor: string, videoId: string | number) => `${actor}/dislikes/${videoId}`,
    follow: (actor: string, followedId: string | number) => `${actor}/follows/${followedId}`,
    acceptFollow: (followId: string | number) => at(`/accepts/follows/${followId}`),
    rejectFollow: (when: Date) => at(`/rejects/follows/${when.toISOString()}`),
    /** A viewer of `videoId`; `viewerId` only tells whether two views are by the same viewer. */
    view: (actor: string, videoId: string | number, viewerId: string) => `${actor}/views/videos/${videoId}/${viewerId}`,
    watchAction: (uuid: string) => at(`/videos/local-viewer/${uuid}`),
    report: (abuseId: string | number) => at(`/admin/abuses/${abuseId}`),
    playlist,
    playlistElement: (uuid: string, elementId: string | number) => `${playlist(uuid)}/videos/${elementId}`,
    fileRedundancy: (file: { uuid: string; resolution: number; fps?: number }) =>
      at(`/redundancy/videos/${file.uuid}/${file.resolution}${file.fps ? `-${file.fps}` : ''}`),
    playlistRedundancy: (uuid: string) => at(`/redundancy/streaming-playlists/hls/${uuid}`),

    createOf: (id: string) => `${id}/activity`,
    /** For repeatable activities, so that servers which deduplicate by id handle each one. */
    againOf: (activityId: string, when: Date) => `${activityId}#${when.toISOString()}`,
    updateOf: (id: string, when: Date) => `${id}/updates/${when.toISOString()}`,
    deleteOf: (id: string) => `${id}/delete`,
    /** By one of several actors that may own it. */
    deleteBy: (id: string, actorId: string | number) => `${id}/delete/${actorId}`,
    undoOf: (id: string) => `${id}/undo`,

    nodeInfo: (version: '2.0' | '2.1') => at(`/nodeinfo/${version}${version === '2.0' ? '.json' : ''}`),
    webFingerTemplate: at('/.well-known/webfinger?resource={uri}'),
    subscribeTemplate: at('/remote-interaction?uri={uri}'),

    /** True if `url` is on this node. */
    isLocal: (url: string): boolean => {
      const parsed = URL.parse(url)
      return parsed !== null && parsed.host === host && parsed.protocol === protocol
    },
    /** The meaning of a local address; undefined for remote ones and unknown paths. */
    parse: (url: string): ParsedAddress | undefined => {
      const parsed = url.length <= 2000 ? URL.parse(url) : null
      if (parsed === null || parsed.host !== host || parsed.protocol !== protocol || parsed.username !== '') return undefined
      return parsePath(parsed.pathname)
    },
  }
}

/** Parses the path of a local address, without query and fragment. */
function parsePath(path: string): ParsedAddress | undefined {
  const whole = parsePlain(path)
  if (whole) return { ...whole, activity: null }
  for (const { activity, suffix } of SUFFIXES) {
    const end = suffix.exec(path)
    const base = end ? parsePlain(path.slice(0, end.index)) : undefined
    if (base) return { ...base, activity }
  }
  return undefined
}

const SUFFIXES = [
  { activity: 'create', suffix: /\/activity$/ },
  { activity: 'update', suffix: /\/updates\/[^/]{1,40}$/ },
  { activity: 'delete', suffix: /\/delete$/ },
  { activity: 'undo', suffix: /\/undo$/ },
] as const

const NAME = '[a-zA-Z0-9_.-]{1,120}'
const ID = '\\d{1,18}'
const UUID = '[0-9a-fA-F-]{36}'
const ACTOR = `/(?<owner>accounts|video-channels)/(?<name>${NAME})`
const VIDEO = `/videos/watch/(?<uuid>${UUID})`
const PLAYLIST = `/video-playlists/(?<uuid>${UUID})`

type Parts = Record<string, string | undefined>
const text = (parts: Parts, key: string): string => parts[key] ?? ''
const owner = (parts: Parts): 'account' | 'channel' => (parts.owner === 'accounts' ? 'account' : 'channel')

const FORMS: { form: RegExp; make: (parts: Parts) => OwnAddress | undefined }[] = [
  form('/inbox', () => ({ kind: 'shared-inbox' })),
  form(ACTOR, (p) => ({ kind: owner(p), name: text(p, 'name') })),
  form(`${ACTOR}/(?<collection>[a-z]+)`, (p) => {
    const collection = COLLECTIONS.find((name) => name === p.collection)
    return collection && { kind: 'actor-collection', owner: owner(p), name: text(p, 'name'), collection }
  }),
  form(`${ACTOR}/followers_synchronization`, (p) => ({
    kind: 'follower-synchronization',
    owner: owner(p),
    name: text(p, 'name'),
  })),
  form(`${ACTOR}/(?<rating>like|dislike)s/(?<videoId>${ID})`, (p) => ({
    kind: 'rate',
    owner: owner(p),
    name: text(p, 'name'),
    rating: p.rating === 'like' ? 'like' : 'dislike',
    videoId: text(p, 'videoId'),
  })),
  form(`${ACTOR}/follows/(?<id>${ID})`, (p) => ({
    kind: 'follow',
    owner: owner(p),
    name: text(p, 'name'),
    id: text(p, 'id'),
  })),
  form(`${ACTOR}/views/videos/(?<videoId>${ID})/(?<viewerId>[\\w.-]{1,200})`, (p) => ({
    kind: 'view',
    owner: owner(p),
    name: text(p, 'name'),
    videoId: text(p, 'videoId'),
    viewerId: text(p, 'viewerId'),
  })),
  form(VIDEO, (p) => ({ kind: 'video', uuid: text(p, 'uuid') })),
  form(`${VIDEO}/(?<collection>[a-z]+)`, (p) => {
    const collection = VIDEO_COLLECTIONS.find((name) => name === p.collection)
    return collection && { kind: 'video-collection', uuid: text(p, 'uuid'), collection }
  }),
  form(`${VIDEO}/comments/(?<id>${ID})`, (p) => ({ kind: 'comment', uuid: text(p, 'uuid'), id: text(p, 'id') })),
  form(`${VIDEO}/comments/(?<id>${ID})/approve-reply`, (p) => ({
    kind: 'comment-approval',
    uuid: text(p, 'uuid'),
    id: text(p, 'id'),
  })),
  form(`${VIDEO}/comments/(?<id>${ID})/replies`, (p) => ({
    kind: 'comment-replies',
    uuid: text(p, 'uuid'),
    id: text(p, 'id'),
  })),
  form(`${VIDEO}/announces/(?<actorId>${ID})`, (p) => ({
    kind: 'announce',
    uuid: text(p, 'uuid'),
    actorId: text(p, 'actorId'),
  })),
  form(`/videos/local-viewer/(?<uuid>${UUID})`, (p) => ({ kind: 'watch-action', uuid: text(p, 'uuid') })),
  form(`/accepts/follows/(?<id>${ID})`, (p) => ({ kind: 'accept', id: text(p, 'id') })),
  form('/rejects/follows/(?<date>[^/]{1,40})', (p) => ({ kind: 'reject', date: text(p, 'date') })),
  form(`/admin/abuses/(?<id>${ID})`, (p) => ({ kind: 'report', id: text(p, 'id') })),
  form(PLAYLIST, (p) => ({ kind: 'playlist', uuid: text(p, 'uuid') })),
  form(`${PLAYLIST}/videos/(?<id>${ID})`, (p) => ({
    kind: 'playlist-element',
    uuid: text(p, 'uuid'),
    id: text(p, 'id'),
  })),
  form(`/redundancy/videos/(?<uuid>${UUID})/(?<resolution>\\d{1,5})(?:-(?<fps>\\d{1,4}))?`, (p) => ({
    kind: 'file-redundancy',
    uuid: text(p, 'uuid'),
    resolution: text(p, 'resolution'),
    fps: p.fps ?? null,
  })),
  // The recorded reference serves the document under the numeric type 1 only, although its id contains hls.
  form(`/redundancy/streaming-playlists/(?:hls|1)/(?<uuid>${UUID})`, (p) => ({
    kind: 'playlist-redundancy',
    uuid: text(p, 'uuid'),
  })),
]

function form(pattern: string, make: (parts: Parts) => OwnAddress | undefined) {
  return { form: new RegExp(`^${pattern}$`), make }
}

function parsePlain(path: string): OwnAddress | undefined {
  for (const { form, make } of FORMS) {
    const parts = form.exec(path)?.groups
    const found = parts || form.test(path) ? make(parts ?? {}) : undefined
    if (found && (!('uuid' in found) || isUuid(found.uuid))) return found
  }
  return undefined
}
