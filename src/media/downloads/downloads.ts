// Downloads for video imports: chooses the method for an address or torrent.

import { join } from 'node:path'
import type { Config } from '../../config/index.ts'
import { type Dial, type GuardedFetch, makeDial, type Resolve } from '../../platform/fetch/index.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Ffmpeg } from '../ffmpeg/find.ts'
import { findCompleted, recordCompleted, removeCompletedRecord } from './completed-download.ts'
import { openDirect } from './direct.ts'
import type { DownloadedVideo, DownloadOptions, DownloadSource } from './download.ts'
import { asDownloadError, DownloadError } from './download-error.ts'
import { maxMemoryOf } from './limits.ts'
import { makeDownloadTorrent } from './torrent/torrent-downloads.ts'
import { findYtDlp } from './yt-dlp/find.ts'
import type { RemoteVideoEntry } from './yt-dlp/info.ts'
import { findSandbox } from './yt-dlp/sandbox.ts'
import { isSafeYtDlp, makeVersionCache, OLDEST_SAFE_YT_DLP } from './yt-dlp/version.ts'
import { makeYtDlp, type YtDlp } from './yt-dlp/yt-dlp.ts'

export interface Downloads {
  /**
   * Throws DownloadError, errors of `bringBack`, and the reason of the signal. All files stay in the folder, so that a repeated call
   * returns a complete video at once.
   */
  download(source: DownloadSource, options: DownloadOptions): Promise<DownloadedVideo>
  /**
   * The videos that a channel or playlist of another site lists, in its order, at most `limit`. Throws DownloadError (`no-program` without
   * yt-dlp).
   */
  listRemoteVideos(ask: {
    url: string
    limit: number
    /** A working folder for this call. */
    folder: string
    signal: AbortSignal
  }): Promise<RemoteVideoEntry[]>
}

export interface DownloadsOptions {
  /** Allows plain http, too. */
  http: Pick<GuardedFetch, 'stream' | 'fetch'>
  /** The same guard for connections of other programs. */
  guard: { isAllowed: (address: string) => boolean; resolve: Resolve; proxy?: () => string | undefined }
  config: () => Config
  logger: Logger
  ffmpeg: Ffmpeg
  /** Which versions of yt-dlp may run. */
  isSafe?: (version: string) => boolean
}

const CONNECT_TIMEOUT_MS = 10_000
const SMALLEST_HEIGHT = 144

export function makeDownloads(options: DownloadsOptions): Downloads {
  const { http, guard, config, logger, ffmpeg, isSafe = isSafeYtDlp } = options
  const versionOf = makeVersionCache()
  const settings = () => config().vireo.imports
  const dial: Dial = makeDial({ ...guard, timeoutMs: CONNECT_TIMEOUT_MS })
  const downloadTorrent = makeDownloadTorrent({ http, guard, config, logger })

  async function ytDlp(folder: string): Promise<YtDlp | undefined> {
    const { name, python_path } = config().import.videos.http.youtube_dl_release
    const links = join(folder, 'programs')
    const program = await findYtDlp({ folder: config().storage.bin, name, pythonPath: python_path, links })
    if (!program) return undefined
    const version = await versionOf(program)
    if (version === undefined) throw new DownloadError('no-program', 'The program for this kind of address cannot be run.')
    if (!isSafe(version)) {
      logger.error({ version, needed: OLDEST_SAFE_YT_DLP }, 'yt-dlp is not run: this version is not known to be safe')
      throw new DownloadError(
        'no-program',
        'The yt-dlp of this server is not known to be safe, and has to be updated by its administrator.',
      )
    }
    const sandbox = await findSandbox({ pythonPath: python_path })
    if (!sandbox) logger.warn('yt-dlp runs without a sandbox, which this system does not permit')
    const limits = {
      silenceMs: settings().silence_timeout,
      stallMs: config().vireo.media.stall_timeout,
      maxMemoryBytes: maxMemoryOf(config()),
    }
    return makeYtDlp({ program, sandbox, dial, logger, ffmpeg, maxHeight: heightOf(config()), limits })
  }

  async function fromUrl(url: string, options: DownloadOptions): Promise<DownloadedVideo> {
    const direct = await openDirect(url, { ...options, http, silenceMs: settings().silence_timeout })
    if (direct.isMedia) return await direct.download()
    const program = await ytDlp(options.folder)
    if (!program) throw direct.refusal
    logger.debug('an import is left to yt-dlp')
    return await program.download(url, options)
  }

  const route = (source: DownloadSource, options: DownloadOptions): Promise<DownloadedVideo> => {
    switch (source.kind) {
      case 'url':
        return fromUrl(source.url, options)
      case 'magnet':
        return downloadTorrent(source.uri, options)
      case 'torrent':
        return downloadTorrent(source.bytes, options)
    }
  }

  return {
    async download(source, options) {
      const left = await findCompleted(source, options)
      if (left) return left
      try {
        await removeCompletedRecord(options.folder)
        const video = await route(source, options)
        await recordCompleted(source, options.folder, video).catch((cause) =>
          logger.warn({ err: cause }, 'a video that was downloaded could not be noted'),
        )
        return video
      } catch (error) {
        options.signal.throwIfAborted()
        throw asDownloadError(error)
      }
    },

    async listRemoteVideos({ url, limit, folder, signal }) {
      const program = await ytDlp(folder)
      if (!program) throw new DownloadError('no-program', 'yt-dlp, which reads channels of other sites, is not there.')
      return await program.list(url, { limit, folder, signal })
    },
  }
}

/** Height of the largest rendition, or any without renditions. */
function heightOf({ transcoding }: Config): number {
  if (!transcoding.enabled || transcoding.always_transcode_original_resolution) return LARGEST_HEIGHT
  const heights = Object.entries(transcoding.resolutions).flatMap(([name, isOn]) => (isOn ? [Number.parseInt(name, 10)] : []))
  return Math.max(SMALLEST_HEIGHT, ...heights.filter((height) => height > 0))
}

const LARGEST_HEIGHT = 2160
