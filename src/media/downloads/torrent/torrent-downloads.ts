// Videos by torrent: exactly one file, of a size that is known before its first byte is written.

import { rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Instance } from 'parse-torrent'
import type { Config } from '../../../config/index.ts'
import type { GuardedFetch, Resolve } from '../../../platform/fetch/index.ts'
import type { Logger } from '../../../platform/logger.ts'
import { DownloadError, diskFull, tooLarge } from '../download-error.ts'
import type { DownloadedVideo, DownloadOptions } from '../downloads.ts'
import { type Gate, openGate } from './gate.ts'
import type { TorrentNews, TorrentTask } from './messages.ts'
import { descriptionOf, parsedTorrent, sourcesOf } from './torrent-file.ts'
import { faultOf } from './usable.ts'

/** `source` is a magnet URI or the bytes of a torrent file. Throws DownloadError, and the reason of the signal. */
export type DownloadTorrent = (source: string | Uint8Array, options: DownloadOptions) => Promise<DownloadedVideo>

const DATA = 'torrent.data'
/** Of the heap of a torrent's thread. */
const MAX_HEAP_MB = 512

export function makeDownloadTorrent(options: {
  http: Pick<GuardedFetch, 'stream'>
  guard: { isAllowed: (address: string) => boolean; resolve: Resolve }
  config: () => Config
  logger: Logger
}): DownloadTorrent {
  const { http, guard, config, logger } = options
  const settings = () => config().vireo.imports

  async function taskFor(parsed: Instance, gate: Gate, { folder, maxBytes }: DownloadOptions): Promise<TorrentTask> {
    const { trackers, seeds, peers } = sourcesOf(parsed)
    const looked = await Promise.all(trackers.map((tracker) => trackerFor(tracker, gate)))
    return {
      torrent: {
        ...descriptionOf(parsed),
        announce: looked.filter((tracker) => tracker !== undefined),
        urlList: seeds.filter((seed) => /^https?:\/\//.test(seed)).map((seed) => gate.to(seedFor(seed, parsed))),
        peerAddresses: peers,
      },
      ...{ path: join(folder, DATA), maxBytes, dht: settings().torrent_dht },
      allowPrivateAddresses: config().vireo.federation.allow_private_addresses,
    }
  }

  /** Trackers by HTTP are asked through the gate; those by UDP at the address that was looked at. */
  async function trackerFor(tracker: string, gate: Gate): Promise<string | undefined> {
    const url = URL.parse(tracker)
    if (url?.protocol === 'http:' || url?.protocol === 'https:') return gate.to(tracker)
    if (url?.protocol !== 'udp:' || url.port === '') return undefined
    const found = await guard.resolve(url.hostname).catch(() => [])
    const address = found.find((one) => one.family === 4 && guard.isAllowed(one.address))?.address
    return address && `udp://${address}:${url.port}`
  }

  return async (source, options) => {
    const parsed = await parsedTorrent(source)
    if (!parsed) throw new DownloadError('unusable', 'This is no torrent.')
    const fault = parsed.files && faultOf(parsed.files, options.maxBytes)
    if (fault) throw refusalOf(fault)
    const gate = await openGate({ http })
    try {
      const task = await taskFor(parsed, gate, options)
      options.signal.throwIfAborted()
      const name = await inThread(task, { ...options, silenceMs: settings().peer_timeout, logger })
      const path = join(options.folder, 'complete')
      await rename(task.path, path)
      return { path, fileName: basename(name), metadata: {} }
    } finally {
      await gate.close()
    }
  }
}

/** The name of the file that is whole now. */
async function inThread(
  task: TorrentTask,
  { signal, onProgress, silenceMs, logger }: DownloadOptions & { silenceMs: number; logger: Logger },
): Promise<string> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    env: { PATH: process.env.PATH },
    stderr: true,
    stdout: true,
  })
  let timer: NodeJS.Timeout | undefined
  let onAbort = () => {}
  try {
    return await new Promise<string>((resolve, reject) => {
      onAbort = () => reject(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
      const heard = () => {
        clearTimeout(timer)
        timer = setTimeout(() => reject(new DownloadError('time-out', 'Nobody sends this torrent.')), silenceMs)
      }
      heard()
      worker.on('message', (news: TorrentNews) => {
        heard()
        if (news.type === 'progress') onProgress(news.percent)
        else if (news.type === 'done') resolve(news.name)
        else reject(failureOf(news))
      })
      worker.once('error', (error) => {
        logger.debug({ err: error }, 'the thread of a torrent failed')
        reject(failed(error))
      })
      worker.once('exit', () => reject(failed(undefined)))
    })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    await worker.terminate()
  }
}

function failureOf({ reason, message }: Extract<TorrentNews, { type: 'failed' }>): Error {
  if (reason === 'disk-full') return diskFull(new Error(message))
  return reason === 'other' ? failed(new Error(message)) : refusalOf(reason)
}

const failed = (cause: unknown): DownloadError =>
  new DownloadError('failed', 'The torrent cannot be downloaded.', { cause })

const refusalOf = (fault: 'files' | 'too-large'): DownloadError =>
  fault === 'files' ? new DownloadError('unusable', 'Torrents with exactly one file can be imported.') : tooLarge()

/** BEP 19: an address that ends with a slash is that of the folder. */
const seedFor = (seed: string, { name }: Instance): string =>
  seed.endsWith('/') && typeof name === 'string' ? seed + encodeURIComponent(name) : seed
