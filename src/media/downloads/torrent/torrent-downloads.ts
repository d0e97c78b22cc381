// Video downloads by torrent: exactly one file, whose size is known before its first byte is written.

import { rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Instance } from 'parse-torrent'
import type { Config } from '../../../config/index.ts'
import { compileCacheEnv } from '../../../platform/compile-cache.ts'
import type { GuardedFetch, Resolve } from '../../../platform/fetch/index.ts'
import type { Logger } from '../../../platform/logger.ts'
import { killOrphan, type ProcessEnd, runProcess } from '../../process.ts'
import { completePath } from '../completed-download.ts'
import type { DownloadedVideo, DownloadOptions } from '../download.ts'
import { DownloadError, diskFull, tooLarge } from '../download-error.ts'
import { maxMemoryOf } from '../limits.ts'
import { type Gate, openGate } from './gate.ts'
import { newsSchema, type TorrentNews, type TorrentTask } from './messages.ts'
import { descriptionOf, parsedTorrent, sourcesOf } from './torrent-file.ts'
import { faultOf, type TorrentFault } from './usable.ts'

/** `source` is a magnet URI or the bytes of a torrent file. Throws DownloadError, and the reason of the signal. */
export type DownloadTorrent = (source: string | Uint8Array, options: DownloadOptions) => Promise<DownloadedVideo>

const DATA = 'torrent.data'
const PID_FILE = 'torrent.pid'
const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url))

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
      path: join(folder, DATA),
      maxBytes,
      dht: settings().torrent_dht,
      allowPrivateAddresses: config().vireo.federation.allow_private_addresses,
    }
  }

  /** HTTP trackers are requested through the gateway; UDP trackers at the checked address. */
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
    const { files, pieceLength = 0, pieces = [] } = parsed
    const fault = files && faultOf({ files, pieceLength, pieces }, options.maxBytes)
    if (fault) throw refusalOf(fault)
    await killOrphan(join(options.folder, PID_FILE), options.folder)
    const gate = await openGate({ http })
    try {
      const task = await taskFor(parsed, gate, options)
      options.signal.throwIfAborted()
      const limits = { stallMs: settings().peer_timeout, maxMemoryBytes: maxMemoryOf(config()) }
      const { name, title } = await inProcess(task, { ...options, limits, logger })
      const path = completePath(options.folder)
      await rename(task.path, path)
      return { path, fileName: basename(name), metadata: { title } }
    } finally {
      await gate.close()
    }
  }
}

interface Running extends DownloadOptions {
  limits: { stallMs: number; maxMemoryBytes: number }
  logger: Logger
}

/** The names of the complete file and of its torrent. */
async function inProcess(task: TorrentTask, running: Running): Promise<Extract<TorrentNews, { type: 'done' }>> {
  const { folder, signal, onProgress, limits, logger } = running
  let last: TorrentNews | undefined
  const end = await runProcess({
    path: process.execPath,
    args: [CHILD],
    limits,
    signal,
    pidFile: join(folder, PID_FILE),
    // Without the server's own environment, which may contain secrets.
    env: { TMPDIR: folder, ...compileCacheEnv() },
    messages: {
      first: task,
      onMessage(message) {
        const { data } = newsSchema.safeParse(message)
        if (data?.type === 'progress') onProgress(data.percent)
        else last ??= data
      },
    },
  })
  signal.throwIfAborted()
  if (last?.type === 'done') return last
  throw last?.type === 'failed' ? failureOf(last) : endOf(end, logger)
}

/** For a process that ended without a message. */
function endOf({ killedFor, stderr }: ProcessEnd, logger: Logger): DownloadError {
  if (killedFor === 'stalled') return new DownloadError('time-out', 'This torrent has no seeds.')
  if (killedFor === 'memory') return new DownloadError('failed', 'This torrent needs too much memory.')
  logger.debug({ stderr }, 'the process of a torrent failed')
  return failed(undefined)
}

function failureOf({ reason, message }: Extract<TorrentNews, { type: 'failed' }>): Error {
  if (reason === 'disk-full') return diskFull(new Error(message))
  return reason === 'other' ? failed(new Error(message)) : refusalOf(reason)
}

const failed = (cause: unknown): DownloadError => new DownloadError('failed', 'The torrent cannot be downloaded.', { cause })

function refusalOf(fault: TorrentFault): DownloadError {
  switch (fault) {
    case 'files':
      return new DownloadError('unusable', 'Torrents with exactly one file can be imported.')
    case 'too-large':
      return tooLarge()
    case 'pieces':
      return new DownloadError('unusable', 'The pieces of this torrent do not fit its file, or are too large.')
    case 'wrong-bytes':
      return new DownloadError('unusable', 'What is sent for this torrent is not what it describes.')
  }
}

/** BEP 19: an address with a trailing slash is that of the folder. */
const seedFor = (seed: string, { name }: Instance): string =>
  seed.endsWith('/') && typeof name === 'string' ? seed + encodeURIComponent(name) : seed
