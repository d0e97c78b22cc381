// Small remote files: fetched on the first request, checked, and cached in a folder of their own.

import { fileTypeFromBuffer } from 'file-type'
import pLimit from 'p-limit'
import { cleanWebVtt, type FileRef, isDiskFull, readTorrent, type Store } from '../../media/index.ts'
import { FetchError, type FetchFailure } from '../../platform/fetch/index.ts'
import { makeKeyedLimit } from '../../platform/keyed-limit.ts'
import type { Logger } from '../../platform/logger.ts'
import { makeLru } from '../../platform/lru.ts'
import { withTimeout } from '../../platform/timeout.ts'
import type { CacheLimit } from './cache-limit.ts'

/** The body of a remote file; null if its host reports that it is unavailable. Throws without a valid response. */
export type FetchRemoteFile = (url: string, maxBytes: number) => Promise<Buffer | null>

export interface RemoteFile {
  ref: FileRef
  maxBytes: number
  /** Its address; undefined if there is no such file. */
  urlOf(): Promise<string | undefined>
  /** Returns the bytes to store. Throws if the content is invalid. */
  check(bytes: Buffer): Promise<Uint8Array>
}

const TYPES = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/avif'])
/** Pause before an unavailable file or an unresponsive host is requested again. */
const PAUSE_MS = 60_000
const NO_ANSWER: ReadonlySet<FetchFailure> = new Set(['dns', 'refused', 'unreachable', 'reset', 'tls', 'timeout'])
/** Concurrent fetches, of all hosts and of one; a page may request many pictures. */
const AT_ONCE = 20
const AT_ONCE_OF_A_HOST = 8
/** Including queued ones; further requests are refused and must be repeated. */
const MAX_UNDERWAY = 500

/** A picture is stored unchanged. */
export async function checkPicture(bytes: Buffer): Promise<Uint8Array> {
  const found = await fileTypeFromBuffer(bytes)
  if (!found || !TYPES.has(found.mime)) throw new Error(`It is no picture but ${found?.mime ?? 'something else'}.`)
  return bytes
}

/** Only the text of the cues is stored of a caption. */
export const checkCaption = async (bytes: Buffer): Promise<Uint8Array> => Buffer.from(await cleanWebVtt(bytes))

/** A torrent is stored unchanged. */
export async function checkTorrent(bytes: Buffer): Promise<Uint8Array> {
  if (!(await readTorrent(bytes))) throw new Error('It is no torrent.')
  return bytes
}

export function makeRemoteFiles(deps: {
  store: Store
  kept: CacheLimit
  logger: Logger
  fetchRemoteFile: FetchRemoteFile
  /** Timeout of a request in ms; the fetch continues for later ones. */
  waitMs: () => number
}) {
  const { store, kept, logger, fetchRemoteFile, waitMs } = deps
  const underway = new Map<string, Promise<boolean>>()
  const failed = makeLru<string, true>(5000, { ttl: PAUSE_MS })
  const silent = makeLru<string, true>(5000, { ttl: PAUSE_MS })
  const inTurn = pLimit(AT_ONCE)
  /** A slow host does not occupy all slots. */
  const ofHost = makeKeyedLimit<string>(AT_ONCE_OF_A_HOST)

  async function fetchInTurn(file: RemoteFile, key: string): Promise<boolean> {
    const url = await file.urlOf()
    return url !== undefined && (await ofHost.run(hostOf(url), () => inTurn(() => fetchOne(file, { key, url }))))
  }

  async function fetchOne({ ref, maxBytes, urlOf, check }: RemoteFile, { key, url }: { key: string; url: string }): Promise<boolean> {
    if (silent.has(hostOf(url))) return false
    try {
      const bytes = await fetchRemoteFile(url, maxBytes).catch((error: unknown) => {
        if (error instanceof FetchError && NO_ANSWER.has(error.reason)) silent.set(hostOf(url), true)
        throw error
      })
      if (bytes === null) throw new Error('Its host does not give it.')
      await keep(ref, await check(bytes))
      if ((await urlOf()) !== url) {
        // It was removed while it was fetched: nobody else would remove a late arrival.
        await store.remove(ref)
        return false
      }
      kept.added(ref)
      return true
    } catch (error) {
      failed.set(key, true)
      if (isDiskFull(error)) logger.warn({ err: error }, 'there is no room for files of other servers')
      else logger.info({ err: error, url }, 'a remote file cannot be had')
      return false
    }
  }

  /** On a full disk it replaces others, which can be fetched again. */
  async function keep(ref: FileRef, bytes: Uint8Array): Promise<void> {
    try {
      await store.put(ref, bytes)
    } catch (error) {
      if (!isDiskFull(error) || !(await kept.makeRoom(ref.kind))) throw error
      await store.put(ref, bytes)
    }
  }

  /** Fetches the file into the store; false if there is none, or after the timeout. Concurrent requests share one fetch. */
  return async function bring(file: RemoteFile): Promise<boolean> {
    if (await store.stat(file.ref)) {
      kept.used(file.ref)
      return true
    }
    const key = `${file.ref.kind}/${file.ref.name}`
    if (failed.has(key)) return false
    const running = underway.get(key)
    if (running) return (await withTimeout(running, waitMs())) ?? false
    if (underway.size >= MAX_UNDERWAY) return false
    const fetching = fetchInTurn(file, key).finally(() => underway.delete(key))
    underway.set(key, fetching)
    return (await withTimeout(fetching, waitMs())) ?? false
  }
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? ''
