// Videos by torrent: exactly one file, of a size that is known before its first byte is written.

import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Instance } from 'parse-torrent'
import type { Torrent } from 'webtorrent'
import type { Config } from '../../../config/index.ts'
import type { GuardedFetch, Resolve } from '../../../platform/fetch/index.ts'
import type { Logger } from '../../../platform/logger.ts'
import { DownloadError, tooLarge } from '../download-error.ts'
import type { DownloadedVideo, DownloadOptions } from '../downloads.ts'
import { makeSharedClient, type TorrentClient } from './client.ts'
import { flatStore } from './flat-store.ts'
import { parsedTorrent, sourcesOf } from './torrent-file.ts'

export interface TorrentDownloads {
  /** `source` is a magnet URI or the bytes of a torrent file. Throws DownloadError, and the reason of the signal. */
  download(source: string | Uint8Array, options: DownloadOptions): Promise<DownloadedVideo>
  close(): Promise<void>
}

const DATA = 'torrent.data'

export function makeTorrentDownloads(options: {
  http: Pick<GuardedFetch, 'stream'>
  guard: { isAllowed: (address: string) => boolean; resolve: Resolve }
  config: () => Config
  logger: Logger
}): TorrentDownloads {
  const { http, guard, config, logger } = options
  const settings = () => config().vireo.imports
  const shared = makeSharedClient({
    ...{ http, isAllowed: guard.isAllowed },
    dht: () => settings().torrent_dht,
    onWarning: (error) => logger.debug({ err: error }, 'the torrent client met trouble'),
  })
  /** The client takes a torrent once at a time. */
  const running = new Map<string, Promise<unknown>>()

  async function alone<T>(infoHash: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    while (running.has(infoHash)) {
      await running.get(infoHash)?.catch(() => undefined)
      signal.throwIfAborted()
    }
    const run = work().finally(() => running.delete(infoHash))
    running.set(infoHash, run)
    return await run
  }

  async function receive(parsed: Instance, { client, gate }: TorrentClient, options: DownloadOptions): Promise<string> {
    const { folder, maxBytes, signal, onProgress } = options
    const { trackers, seeds, peers } = sourcesOf(parsed)
    const pinned = await Promise.all(trackers.map((tracker) => trackerFor(tracker, (target) => gate.to(target))))
    signal.throwIfAborted()
    const torrent = client.add(
      {
        ...parsed,
        announce: pinned.filter((tracker) => tracker !== undefined),
        urlList: seeds.filter((seed) => /^https?:\/\//.test(seed)).map((seed) => gate.to(seedFor(seed, parsed))),
        peerAddresses: peers,
        // Where a magnet URI would have the client look for the torrent file.
        ...{ xs: undefined, as: undefined, so: undefined },
      },
      { path: folder, store: flatStore(join(folder, DATA)), storeCacheSlots: 0 },
    )
    try {
      return await untilDone(torrent, { maxBytes, signal, onProgress, silenceMs: settings().peer_timeout })
    } finally {
      await ended(torrent)
    }
  }

  /** Trackers by HTTP are asked through the gate; those by UDP at the address that was looked at. */
  async function trackerFor(tracker: string, toGate: (target: string) => string): Promise<string | undefined> {
    const url = URL.parse(tracker)
    if (url?.protocol === 'http:' || url?.protocol === 'https:') return toGate(tracker)
    if (url?.protocol !== 'udp:' || url.port === '') return undefined
    const found = await guard.resolve(url.hostname).catch(() => [])
    const address = found.find((one) => one.family === 4 && guard.isAllowed(one.address))?.address
    return address && `udp://${address}:${url.port}`
  }

  return {
    async download(source, options) {
      const parsed = await parsedTorrent(source)
      if (!parsed) throw new DownloadError('unusable', 'This is no torrent.')
      if (parsed.files) assertUsable(parsed.files, options.maxBytes)
      const name = await alone(parsed.infoHash, options.signal, () =>
        shared.use((client) => receive(parsed, client, options)),
      )
      const path = join(options.folder, 'complete')
      await rename(join(options.folder, DATA), path)
      return { path, fileName: name, metadata: {} }
    },
    close: () => shared.close(),
  }
}

/** The name of the file that is whole now. */
async function untilDone(
  torrent: Torrent,
  { maxBytes, signal, onProgress, silenceMs }: Omit<DownloadOptions, 'folder'> & { silenceMs: number },
): Promise<string> {
  let timer: NodeJS.Timeout | undefined
  let onAbort = () => {}
  try {
    return await new Promise<string>((resolve, reject) => {
      onAbort = () => reject(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
      if (signal.aborted) onAbort()
      const heard = () => {
        clearTimeout(timer)
        timer = setTimeout(() => reject(new DownloadError('time-out', 'Nobody sends this torrent.')), silenceMs)
      }
      heard()
      torrent.on('error', (error: unknown) => reject(asFailure(error)))
      torrent.on('warning', () => {})
      torrent.once('metadata', () => {
        try {
          assertUsable(torrent.files, maxBytes)
        } catch (error) {
          // Before anything is written.
          torrent.destroy({ destroyStore: false }, () => {})
          reject(error)
        }
      })
      torrent.on('download', () => {
        heard()
        onProgress(torrent.progress * 100)
      })
      torrent.once('done', () => resolve(torrent.files[0]?.name ?? 'video'))
    })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

const ended = (torrent: Torrent): Promise<void> =>
  new Promise((resolve) => {
    if (torrent.destroyed) resolve()
    else torrent.destroy({ destroyStore: false }, () => resolve())
  })

export function assertUsable(files: readonly { length: number }[], maxBytes: number): void {
  const [file] = files
  if (!file || files.length > 1) throw new DownloadError('unusable', 'Torrents with exactly one file can be imported.')
  if (file.length > maxBytes) throw tooLarge()
}

/** A full disk is told as it is, whichever layer said so. */
function asFailure(error: unknown): unknown {
  if (typeof error === 'object' && error !== null && 'code' in error) return error
  return new DownloadError('failed', 'The torrent cannot be downloaded.', { cause: error })
}

/** BEP 19: an address that ends with a slash is that of the folder. */
const seedFor = (seed: string, { name }: Instance): string =>
  seed.endsWith('/') && typeof name === 'string' ? seed + encodeURIComponent(name) : seed
