// Small files of other servers: fetched when they are first asked for, looked at, and kept in our store.

import { setTimeout as pause } from 'node:timers/promises'
import { fileTypeFromBuffer } from 'file-type'
import { LRUCache } from 'lru-cache'
import { cleanWebVtt, type FileRef, type Store } from '../../media/index.ts'
import type { Logger } from '../../platform/logger.ts'

/** The body of a remote file. Throws when it cannot be had, or has more than `maxBytes`. */
export type FetchRemoteFile = (url: string, maxBytes: number) => Promise<Buffer>

export interface RemoteFile {
  ref: FileRef
  maxBytes: number
  /** Where it is; undefined when there is no such file. */
  urlOf(): Promise<string | undefined>
  /** What is kept of it. Throws when it is not what it should be. */
  check(bytes: Buffer): Promise<Uint8Array>
}

const TYPES = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/avif'])
/** A file that could not be had is not asked for again so soon. */
const PAUSE_MS = 60_000
/** Fetches at once; more wait for their turn by being asked again. */
const AT_ONCE = 20

/** A picture is kept as it is. */
export async function checkPicture(bytes: Buffer): Promise<Uint8Array> {
  const found = await fileTypeFromBuffer(bytes)
  if (!found || !TYPES.has(found.mime)) throw new Error(`It is no picture but ${found?.mime ?? 'something else'}.`)
  return bytes
}

/** Of a caption only the text of its cues is kept. */
export const checkCaption = async (bytes: Buffer): Promise<Uint8Array> => Buffer.from(await cleanWebVtt(bytes))

export function makeRemoteFiles(deps: {
  store: Store
  logger: Logger
  fetchRemoteFile: FetchRemoteFile
  /** Ms after which nobody waits for it any more; the fetch goes on for those who ask later. */
  waitMs: () => number
}) {
  const { store, logger, fetchRemoteFile, waitMs } = deps
  const underway = new Map<string, Promise<boolean>>()
  const failed = new LRUCache<string, true>({ max: 5000, ttl: PAUSE_MS })

  async function fetchOne({ ref, maxBytes, urlOf, check }: RemoteFile, key: string): Promise<boolean> {
    const url = await urlOf()
    if (url === undefined) return false
    try {
      await store.put(ref, await check(await fetchRemoteFile(url, maxBytes)))
      if ((await urlOf()) === url) return true
      // It went while it was fetched, and nobody else would remove what came too late.
      await store.remove(ref)
      return false
    } catch (error) {
      failed.set(key, true)
      logger.info({ err: error, url }, 'a remote file cannot be had')
      return false
    }
  }

  async function inTime(fetching: Promise<boolean>): Promise<boolean> {
    const waiting = new AbortController()
    const end = pause(waitMs(), false, { signal: waiting.signal, ref: false }).catch(() => false)
    return await Promise.race([fetching, end]).finally(() => waiting.abort())
  }

  /** Brings the file into the store; false when there is none, or not in time. Asked by many at once it is fetched once. */
  return async function bring(file: RemoteFile): Promise<boolean> {
    const key = `${file.ref.kind}/${file.ref.name}`
    if (failed.has(key)) return false
    const running = underway.get(key)
    if (running) return await inTime(running)
    if (underway.size >= AT_ONCE) return false
    const fetching = fetchOne(file, key).finally(() => underway.delete(key))
    underway.set(key, fetching)
    return await inTime(fetching)
  }
}
