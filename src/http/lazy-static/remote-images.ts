// Pictures of other servers: fetched when they are first asked for, looked at, and kept in our store.

import { fileTypeFromBuffer } from 'file-type'
import { LRUCache } from 'lru-cache'
import { findRemotePicture } from '../../actors/playlist/index.ts'
import { findRemoteImage } from '../../actors/video/index.ts'
import type { FileRef, Store } from '../../media/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Logger } from '../../platform/logger.ts'

/** The body of a remote file. Throws when it cannot be had, or has more than `maxBytes`. */
export type FetchRemoteFile = (url: string, maxBytes: number) => Promise<Buffer>

export interface RemoteImage {
  of: 'video' | 'actor'
  /** Of the thumbnail or the actor image. */
  type: number
  ref: FileRef
}

const TYPES = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/avif'])
/** A picture that could not be had is not asked for again so soon. */
const PAUSE_MS = 60_000
/** Fetches at once; more wait for their turn by being asked again. */
const AT_ONCE = 20

export function makeRemoteImages(deps: {
  db: Database
  store: Store
  logger: Logger
  maxBytes: () => number
  fetchRemoteFile: FetchRemoteFile
}) {
  const { db, store, logger, maxBytes, fetchRemoteFile } = deps
  const underway = new Map<string, Promise<boolean>>()
  const failed = new LRUCache<string, true>({ max: 5000, ttl: PAUSE_MS })

  async function fetchOne({ of, type, ref }: RemoteImage, key: string): Promise<boolean> {
    const url =
      (await findRemoteImage(db, { of, type, filename: ref.name })) ??
      // Those of playlists lie among those of videos.
      (ref.kind === 'thumbnails' ? await findRemotePicture(db, ref.name) : undefined)
    if (url === undefined) return false
    try {
      const bytes = await fetchRemoteFile(url, maxBytes())
      const found = await fileTypeFromBuffer(bytes)
      if (!found || !TYPES.has(found.mime)) throw new Error(`It is no picture but ${found?.mime ?? 'something else'}.`)
      await store.put(ref, bytes)
      return true
    } catch (error) {
      failed.set(key, true)
      logger.info({ err: error, url }, 'a remote picture cannot be had')
      return false
    }
  }

  /** Brings the picture into the store; false when there is none. Asked by many at once it is fetched once. */
  return async function fetchRemoteImage(image: RemoteImage): Promise<boolean> {
    const key = `${image.ref.kind}/${image.ref.name}`
    if (failed.has(key)) return false
    const running = underway.get(key)
    if (running) return running
    if (underway.size >= AT_ONCE) return false
    const fetching = fetchOne(image, key).finally(() => underway.delete(key))
    underway.set(key, fetching)
    return fetching
  }
}
