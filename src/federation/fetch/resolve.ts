// Resolves pasted text to videos, channels, playlists and accounts: from the database, and from their own server if the caller may ask for
// that. The caller gets a response within a time limit, whatever the other server does.

import pLimit from 'p-limit'
import { findAccount } from '../../actors/account/index.ts'
import { findChannelByHandle } from '../../actors/channel/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { withTimeout } from '../../platform/timeout.ts'
import type { FederationDeps } from '../deps.ts'
import type { ResolveActor } from './actors.ts'
import type { Discovery } from './discovery.ts'
import type { FetchDocument, FetchedDocument } from './documents.ts'
import { type Pasted, readPasted } from './lookup.ts'
import type { PlaylistFetcher } from './playlists.ts'
import type { VideoFetcher } from './videos.ts'

/** The object that a text names, with its row id. */
export interface Named {
  kind: 'video' | 'channel' | 'playlist' | 'account'
  id: number
}

/** Row ids of what a text names; undefined if it names nothing that can be found. `fetch`: other servers may be asked. */
export type ResolvePasted = ReturnType<typeof makeResolvePasted>

/** Concurrent look-ups in one process. */
const AT_ONCE = 10

export function makeResolvePasted(
  deps: FederationDeps & {
    fetchDocument: FetchDocument
    resolveActor: ResolveActor
    discovery: Discovery
    videos: VideoFetcher
    playlists: PlaylistFetcher
  },
) {
  const { db, urls, config, clock, logger, blocked, fetchDocument, resolveActor, discovery, videos, playlists } = deps
  const limited = pLimit(AT_ONCE)

  const idOf = async (text: string, values: unknown[]): Promise<number | undefined> => (await db.query<{ id: number }>(text, values))[0]?.id

  async function video(pasted: Pasted, fetch: boolean): Promise<number | undefined> {
    if (pasted.kind === 'handle') return undefined
    const uuid = 'uuid' in pasted ? pasted.uuid : null
    if (pasted.origin === urls.origin) {
      return uuid === null ? undefined : await idOf("select id from video where uuid = $1 and state <> 'removed'", [uuid])
    }
    const addresses = [...(uuid === null ? [] : [`${pasted.origin}/videos/watch/${uuid}`]), pasted.url]
    const known = await idOf("select id from video where url_hash = any($1::uuid[]) and url = any($2) and state <> 'removed'", [
      await hashes(addresses),
      addresses,
    ])
    if (!fetch) return known
    const notBefore = new Date(clock.now().getTime() - config().vireo.federation.refresh.video)
    return (await firstOf([...new Set(addresses)], async (url) => (await videos.resolve(url, { notBefore })).id)) ?? known
  }

  async function actor(kind: 'account' | 'channel', pasted: Pasted, fetch: boolean): Promise<number | undefined> {
    const fetched = async (url: string): Promise<number | undefined> => {
      const { accountId, channelId } = await resolveActor(url)
      return (kind === 'account' ? accountId : channelId) ?? undefined
    }
    if (pasted.kind === 'handle') {
      const { name, host } = pasted
      const isLocal = host === urls.host
      const handle = { name, host: isLocal ? null : host }
      const known = kind === 'account' ? await findAccount(db, handle) : await findChannelByHandle(db, handle)
      if (known || isLocal || !fetch) return known?.id
      return await firstOf([`${name}@${host}`], async (asked) => fetched(await discovery.actorOf(asked)))
    }
    if (pasted.origin === urls.origin) return undefined
    const known = await idOf(
      `select n.id from actor x join ${kind} n on n.actor_id = x.id
       where x.url_hash = md5($1)::uuid and x.url = $1 and x.deleted_at is null`,
      [pasted.url],
    )
    return known ?? (fetch ? await firstOf([pasted.url], fetched) : undefined)
  }

  async function playlist(pasted: Pasted, fetch: boolean): Promise<number | undefined> {
    if (pasted.kind === 'handle') return undefined
    const uuid = 'uuid' in pasted ? pasted.uuid : null
    if (pasted.origin === urls.origin) {
      return uuid === null ? undefined : await idOf('select id from playlist where uuid = $1', [uuid])
    }
    const addresses = [...new Set([...(uuid === null ? [] : [`${pasted.origin}/video-playlists/${uuid}`]), pasted.url])]
    const known = await idOf('select id from playlist where url_hash = any($1::uuid[]) and url = any($2)', [
      await hashes(addresses),
      addresses,
    ])
    return known ?? (fetch ? await firstOf(addresses, async (url) => (await playlists.resolve(url)).id) : undefined)
  }

  async function anything(pasted: Pasted, fetch: boolean): Promise<Named | undefined> {
    if (pasted.kind === 'video' || pasted.kind === 'playlist') {
      const id = await (pasted.kind === 'video' ? video : playlist)(pasted, fetch)
      return id === undefined ? undefined : { kind: pasted.kind, id }
    }
    const known =
      as('channel', await actor('channel', pasted, false)) ??
      as('account', await actor('account', pasted, false)) ??
      as('video', await video(pasted, false)) ??
      as('playlist', await playlist(pasted, false))
    // A stale one is refreshed.
    if (known?.kind === 'video' && fetch) return as('video', await video(pasted, true))
    if (known || !fetch) return known
    if (pasted.kind === 'handle') {
      const { name, host } = pasted
      if (host === urls.host) return undefined
      return await firstOf([`${name}@${host}`], async (handle) => actorNamed(await discovery.actorOf(handle)))
    }
    return pasted.origin === urls.origin ? undefined : await firstOf([pasted.url], fetched)
  }

  /** Finds the kind of the document at an address. */
  async function fetched(url: string): Promise<Named | undefined> {
    if (await blocked.host(url)) return undefined
    const found = await fetchDocument(url)
    switch (found.document.type) {
      case 'Video':
        return as('video', (await videos.save(found.document, { askedAt: found.askedAt })).id)
      case 'Playlist':
        return as('playlist', (await playlists.resolve(found.id, { fetched: found })).id)
      default:
        return await actorNamed(found.id, found)
    }
  }

  async function actorNamed(url: string, document?: FetchedDocument): Promise<Named | undefined> {
    const { accountId, channelId } = await resolveActor(url, document ? { fetched: document } : {})
    return as('channel', channelId) ?? as('account', accountId)
  }

  const hashes = async (texts: string[]): Promise<string[]> =>
    (await db.query<{ hash: string }>('select md5(t)::uuid as hash from unnest((select $1::text[])) as t', [texts])).map(({ hash }) => hash)

  /** The first that can be resolved; refused, unreachable and unsuitable ones are skipped. */
  async function firstOf<T>(addresses: string[], resolve: (address: string) => Promise<T | undefined>): Promise<T | undefined> {
    for (const address of addresses) {
      try {
        const found = await limited(() => resolve(address))
        if (found !== undefined) return found
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        logger.debug({ address, reason: error.message }, 'a search found nothing at an address')
      }
    }
    return undefined
  }

  /** The result, or nothing after a timeout: the look-up continues, and the next search finds it. */
  async function awaited<T>(lookup: Promise<T | undefined>): Promise<T | undefined> {
    lookup.catch((error: unknown) => logger.error({ err: error }, 'a lookup failed'))
    return await withTimeout(lookup, config().vireo.federation.fetch.search_timeout)
  }

  const resolver =
    <T>(resolve: (pasted: Pasted, fetch: boolean) => Promise<T | undefined>) =>
    async (text: string, { fetch }: { fetch: boolean }): Promise<T | undefined> => {
      const pasted = readPasted(text, urls.origin)
      return pasted && (await awaited(resolve(pasted, fetch)))
    }

  return {
    video: resolver(video),
    channel: resolver((pasted, fetch) => actor('channel', pasted, fetch)),
    account: resolver((pasted, fetch) => actor('account', pasted, fetch)),
    playlist: resolver(playlist),
    /** For any kind: an address of unknown kind is fetched once, and its document tells the kind. */
    anything: resolver(anything),
  }
}

const as = (kind: Named['kind'], id: number | null | undefined): Named | undefined =>
  id === null || id === undefined ? undefined : { kind, id }
