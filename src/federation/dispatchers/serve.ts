// Serves reads by other servers: documents and collections under local addresses, WebFinger, NodeInfo, host-meta.

import type { KvStore } from '@fedify/fedify/federation'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { type CachedAnswer, DOCUMENT_CHANGED, makeDocumentCache } from '../cache.ts'
import { commentDocument, type FoundComment } from '../documents/index.ts'
import { makeFederation } from '../federation.ts'
import type { ResolveActor } from '../fetch/actors.ts'
import type { FetchDocument } from '../fetch/documents.ts'
import { makeObjectAt } from '../own-pages.ts'
import type { ParsedAddress } from '../urls.ts'
import { buildHostMeta, buildWebFinger, type JsonObject, nodeInfoType } from '../wire/index.ts'
import { accessibleVideo, type VideoAccess, videoKeyOf } from './access.ts'
import { actorCollection, actorTombstone, isTombstoneName } from './actor-collections.ts'
import { activity, answer, BRIEFLY, EMPTY, isFresh, JRD_TYPE, JSON_TYPE, missing, redirect, XML_TYPE } from './answers.ts'
import { pageOf } from './collection.ts'
import type { DispatcherDeps } from './deps.ts'
import { dispatch } from './dispatch.ts'
import { followersOfServer } from './follower-synchronization.ts'
import { nodeInfo, nodeInfoLinks, type Software } from './node-info.ts'
import { playlistAnswer, playlistElementAnswer } from './playlists.ts'
import { copyCreation, servedCopy } from './redundancies.ts'
import { makeRequesters, refuseBlockedReader } from './requester.ts'
import { readResource } from './resource.ts'
import { commentApproval, commentCreation, commentReplies, rate, videoAnnounce, videoCollection, videoCreation } from './video-parts.ts'
import { watchAction, watchCreation } from './watch-actions.ts'

/** A GET or HEAD by a client that prefers ActivityPub to pages, or of a well-known document. */
export interface ActivityPubRequest {
  method: string
  /** Path and query. */
  url: string
  /** The same as sent, which signatures cover; `url` by default. */
  signedUrl?: string
  headers: Record<string, string | string[] | undefined>
}

/** The response; null if the address serves nothing here. Throws DomainError for what does not exist or is not public. */
export type ServeActivityPub = (request: ActivityPubRequest) => Promise<CachedAnswer | null>

/** Lifetime of a cached response: notifications may get lost. */
const KEEP_MS = 5000
/** Intermediaries must not cache what was signed for. */
const FOR_SIGNERS = { 'cache-control': 'private, no-cache', vary: 'Accept, Authorization, Signature, Signature-Input' }
const MAX_ID = 2_147_483_647
/** Tabs of the page of an account or channel. */
const ACTOR_TABS = /^(\/(?:@|accounts\/|video-channels\/)[^/]+)\/(?:videos|video-channels|video-playlists|about|search)$/
/** Parts of a video, below any of its names. */
const VIDEO_PART = /^(\/(?:videos\/watch|redundancy\/videos|redundancy\/streaming-playlists\/[^/]+)\/)([^/]+)(\/.+|)$/
const GONE = 'This account was deleted.'
const NO_COMMENT = 'Video comment thread not found'

export function makeServeActivityPub(
  deps: DispatcherDeps & {
    kv: KvStore
    bus: Pick<Bus, 'subscribe' | 'publish'>
    clock: Clock
    fetchDocument: FetchDocument
    resolveActor: ResolveActor
    software: Software
  },
) {
  const { db, urls, config, bus, clock, software } = deps
  const federation = makeFederation(deps)
  const objectAt = makeObjectAt(deps)
  const { whoAsks, signerOf } = makeRequesters(deps)
  const cache = makeDocumentCache({ bus, clock, origin: urls.origin })

  return {
    /** Drops all cached responses after a change of the configuration. */
    forget: cache.clear,
    /** Reports a change: this process drops all cached documents at once, the others when they are notified. */
    async changed() {
      cache.forgetDocuments()
      await bus.publish(DOCUMENT_CHANGED, { all: true })
    },
    close: cache.close,
    async serveActivityPub(request: ActivityPubRequest): Promise<CachedAnswer | null> {
      const { url, headers } = request
      await refuseBlockedReader(headers, deps)
      const { pathname, searchParams } = new URL(url, urls.origin)
      const target = urls.parse(urls.origin + pathname)
      // Each server reads a different list, which must be fresh.
      if (target?.kind === 'follower-synchronization' && target.activity === null) {
        if (!config().vireo.federation.delivery.synchronize_followers) return null
        return await followersOfServer(deps, target, await signerOf(request))
      }
      const known = wellKnown(pathname, searchParams)
      const plan = known ? { ...known, isOpen: true } : document(pathname, searchParams)
      if (!plan) return null
      // Before the cache, whose responses are the same for all authorised requesters.
      const requester = plan.isOpen ? undefined : await whoAsks(request)
      const kept = await (plan.key === null ? plan.make() : cache.get(plan.key, plan.keepMs ?? KEEP_MS, plan.make))
      const answer = requester?.kind === 'signed' ? { ...kept, headers: { ...kept.headers, ...FOR_SIGNERS } } : kept
      return isFresh(headers['if-none-match'], answer) ? { ...answer, status: 304, body: EMPTY } : answer
    },
  }

  function wellKnown(path: string, query: URLSearchParams): Plan | undefined {
    switch (path) {
      case '/.well-known/webfinger': {
        const resource = query.get('resource') ?? ''
        return { key: `${path}?${resource}`, make: () => finger(resource) }
      }
      case '/.well-known/host-meta':
        return { key: path, make: async () => answer(buildHostMeta(urls.webFingerTemplate), XML_TYPE) }
      case '/.well-known/nodeinfo':
        return { key: path, make: async () => answer(nodeInfoLinks(urls), { ...JSON_TYPE, ...nodeInfoAge() }) }
      case '/nodeinfo/2.0.json':
      case '/nodeinfo/2.0':
        return nodeInfoPlan('2.0')
      case '/nodeinfo/2.1':
        return nodeInfoPlan('2.1')
      default:
        return undefined
    }
  }

  /** By a handle, or by any address of the actor. */
  async function finger(resource: string): Promise<CachedAnswer> {
    const asked = readResource(urls, resource)
    const id = 'url' in asked ? await objectAt(asked.url) : null
    const [actor] = await db.query<{ url: string; name: string }>(
      `select url, preferred_username as name from actor
       where ${id === null ? 'lower(preferred_username) = lower($1)' : 'url_hash = md5($1)::uuid and url = $1'}
         and host_id is null and deleted_at is null`,
      ['name' in asked ? asked.name : id],
    )
    if (actor) {
      const { url, name } = actor
      const { host, subscribeTemplate } = urls
      return answer(buildWebFinger({ name, host, actor: url, subscribeTemplate }), JRD_TYPE)
    }
    // Mastodon deletes an account when its handle is gone.
    if ('name' in asked && (await isTombstoneName(db.query, asked.name))) throw new DomainError('gone', GONE)
    return missing('Actor not found')
  }

  /** People copy the address of a page, which may belong to an account or a channel: redirects to the actor's own address. */
  async function addressed(handle: string): Promise<CachedAnswer> {
    const [name = '', host] = handle.split('@')
    const page = `${urls.origin}/@${handle}`
    const url = await objectAt(page)
    if (url !== page) return redirect(url)
    if (host === undefined && (await isTombstoneName(db.query, name))) throw new DomainError('gone', GONE)
    return missing('Actor not found')
  }

  function nodeInfoAge(): Record<string, string> {
    return { 'cache-control': `max-age=${Math.round(config().vireo.caching.routes.nodeinfo / 1000)}` }
  }

  function nodeInfoPlan(version: '2.0' | '2.1'): Plan {
    const make = async () =>
      answer(await nodeInfo(db.query, version, { config: config(), software, now: clock.now() }), {
        'content-type': nodeInfoType(version),
        ...nodeInfoAge(),
      })
    return { key: `/nodeinfo/${version}`, keepMs: config().vireo.caching.routes.nodeinfo, make }
  }

  function document(pathname: string, query: URLSearchParams): Plan | undefined {
    // Responses are cached by the one of several addresses that change notifications use.
    const path = pathname
      .replace(/\/+$/, '')
      .replace(/;[^/]*$/, '')
      .replace(/^\/a\//, '/accounts/')
      .replace(/^\/c\//, '/video-channels/')
      .replace(ACTOR_TABS, '$1')
      .replace(/^(\/redundancy\/streaming-playlists)\/1\//, '$1/hls/')
    const segment = /^\/(?:w|videos\/watch)\/([^/]+)$/.exec(path)?.[1]
    const videoKey = segment === undefined ? undefined : videoKeyOf(segment)
    if (videoKey) {
      const key = 'id' in videoKey ? null : `/videos/watch/${videoKey.uuid}`
      return { key, make: () => videoOf(accessibleVideo(db.query, videoKey)) }
    }
    if (segment !== undefined) return { key: path, make: async () => missing('Video not found') }
    const handle = /^\/(?:@|accounts\/(?=[^/]+@)|video-channels\/(?=[^/]+@))([^/]+)$/.exec(path)?.[1]
    if (handle !== undefined) return { key: null, make: () => addressed(handle) }
    const playlist = playlistPlan(path, query)
    if (playlist) return playlist
    return partPlan(path, query) ?? planAt(path, query)
  }

  function planAt(path: string, query: URLSearchParams): Plan | undefined {
    const target = urls.parse(urls.origin + path)
    return target && targetPlan(target, path, query)
  }

  /** Videos and their parts have three names; the UUID is the cache key. */
  function partPlan(path: string, query: URLSearchParams): Plan | undefined {
    const [, before = '', name = '', rest = ''] = VIDEO_PART.exec(path) ?? []
    const key = videoKeyOf(name)
    if (!key) return undefined
    const planOf = (uuid: string) => planAt(`${before}${uuid}${rest}`, query)
    if ('uuid' in key) return planOf(key.uuid)
    const make = async () => {
      const { uuid } = await accessibleVideo(db.query, key)
      return (await planOf(uuid)?.make()) ?? missing('Video not found')
    }
    return { key: null, make }
  }

  /** Playlists have three addresses, under each of their three names. */
  function playlistPlan(path: string, query: URLSearchParams): Plan | undefined {
    const [, name, elementId] = /^\/(?:video-playlists|w\/p|videos\/watch\/playlist)\/([^/]+)(?:\/videos\/(\d{1,10}))?$/.exec(path) ?? []
    if (name === undefined) return undefined
    const key = videoKeyOf(name)
    if (!key) return { key: path, make: async () => missing('Video playlist not found') }
    const keyOf = (rest: string) => ('id' in key ? null : `/video-playlists/${key.uuid}${rest}`)
    if (elementId !== undefined) {
      const id = Number(elementId)
      if (id > MAX_ID) return { key: path, make: async () => missing('Video playlist element not found') }
      return { key: keyOf(`/videos/${id}`), make: () => playlistElementAnswer(deps, key, id) }
    }
    const page = pageOf(query)
    return {
      key: keyOf(page === null ? '' : `?page=${page}`),
      make: () => playlistAnswer(deps, key, page),
    }
  }

  function targetPlan(target: ParsedAddress, path: string, query: URLSearchParams): Plan | undefined {
    const bare = (make: () => Promise<CachedAnswer>): Plan => ({ key: path, make })
    const raw = (make: () => Promise<JsonObject>, headers = {}): Plan => bare(async () => activity(await make(), headers))
    const ofVideo = (uuid: string, make: (video: VideoAccess) => Promise<JsonObject>) => (): Promise<CachedAnswer> =>
      withVideo(uuid, async (video) => activity(await make(video)))
    const paged = (make: (page: number | null) => Promise<CachedAnswer>): Plan => {
      const page = pageOf(query)
      return { key: page === null ? path : `${path}?page=${page}`, make: () => make(page) }
    }

    if (target.activity === 'create') {
      if (target.kind === 'video') return bare(ofVideo(target.uuid, (video) => videoCreation(deps, video)))
      if (target.kind === 'watch-action') return raw(() => watchCreation(deps, target.uuid))
      if (target.kind === 'file-redundancy' || target.kind === 'playlist-redundancy') {
        return raw(() => copyCreation(deps, target))
      }
      if (target.kind !== 'comment') return undefined
      const { uuid, id } = target
      // The video may be remote; the comment is local.
      return raw(async () => {
        await accessibleVideo(db.query, { uuid: uuid.toLowerCase() })
        return await commentCreation(deps, idOf(id))
      })
    }
    if (target.activity !== null) return undefined
    switch (target.kind) {
      case 'account':
      case 'channel':
        return { ...bare(() => actor(target, path)), isOpen: urls.account(target.name) === urls.instance }
      case 'actor-collection': {
        const { collection, owner, name } = target
        if (collection === 'inbox') return undefined
        return paged(async (page) => activity(await actorCollection(deps, { kind: owner, name }, collection, page)))
      }
      case 'video-collection': {
        const { uuid, collection } = target
        return paged((page) => ofVideo(uuid, (video) => videoCollection(deps, video, collection, page))())
      }
      case 'comment':
        return bare(() => comment(target.uuid, idOf(target.id)))
      case 'comment-replies':
        return paged((page) => replies(target.uuid, idOf(target.id), page))
      case 'comment-approval':
        return bare(ofVideo(target.uuid, (video) => commentApproval(deps, video, idOf(target.id))))
      case 'announce':
        return bare(ofVideo(target.uuid, (video) => videoAnnounce(deps, video, idOf(target.actorId))))
      case 'watch-action':
        return raw(() => watchAction(deps, target.uuid))
      case 'file-redundancy':
      case 'playlist-redundancy':
        return raw(() => servedCopy(deps, target))
      case 'rate':
        return raw(() => rate(deps, urls.origin + path), BRIEFLY)
      default:
        return undefined
    }
  }

  async function actor(target: { kind: 'account' | 'channel'; name: string }, path: string): Promise<CachedAnswer> {
    try {
      const missing = target.kind === 'channel' ? 'Video channel not found' : 'Account not found'
      return await dispatch(federation, urls.origin + path, {}, { missing })
    } catch (error) {
      const isMissing = error instanceof DomainError && error.kind === 'not_found'
      const stone = isMissing ? await actorTombstone(db.query, target) : null
      if (stone) return { ...activity(stone), status: 410 }
      // Names are case-insensitive.
      const asked = urls.origin + path
      const url = isMissing ? await objectAt(asked) : asked
      if (url !== asked && url.toLowerCase() === asked.toLowerCase()) return redirect(url)
      throw error
    }
  }

  /** The document of a local video; a redirect for a remote one. */
  async function videoOf(found: Promise<VideoAccess>): Promise<CachedAnswer> {
    const video = await found
    if (video.remote) return redirect(video.url)
    return await dispatch(federation, video.url, { videoId: video.id }, { missing: 'Video not found', headers: BRIEFLY })
  }

  async function withVideo(uuid: string, make: (video: VideoAccess) => Promise<CachedAnswer>): Promise<CachedAnswer> {
    const video = await accessibleVideo(db.query, { uuid: uuid.toLowerCase() })
    return video.remote ? redirect(video.url) : await make(video)
  }

  async function shownComment(uuid: string, id: number): Promise<FoundComment> {
    const video = await accessibleVideo(db.query, { uuid: uuid.toLowerCase() })
    const found = await commentDocument(db.query, urls, id)
    if (!found?.isShown || found.videoUuid !== video.uuid) return missing(NO_COMMENT)
    return found
  }

  /** For local comments; remote ones have theirs, if any, on their own server. */
  async function replies(uuid: string, id: number, page: number | null): Promise<CachedAnswer> {
    const { isLocal, url } = await shownComment(uuid, id)
    return isLocal ? activity(await commentReplies(deps, { id, url }, page)) : missing(NO_COMMENT)
  }

  async function comment(uuid: string, id: number): Promise<CachedAnswer> {
    const found = await shownComment(uuid, id)
    if (!found.isLocal) return redirect(found.url)
    // Fedify would drop the former type from the Tombstone.
    if (found.kind === 'tombstone') return activity(found.document)
    return await dispatch(federation, found.url, { note: found.document }, { missing: NO_COMMENT })
  }
}

interface Plan {
  /** The cache key; null for numeric ids, which change notifications do not cover: those responses are never cached. */
  key: string | null
  keepMs?: number
  /** Never requires a signature: otherwise two servers that require signatures could never fetch each other's keys. */
  isOpen?: boolean
  make(): Promise<CachedAnswer>
}

function idOf(digits: string): number {
  const id = Number(digits)
  return id <= MAX_ID ? id : missing(NO_COMMENT)
}
