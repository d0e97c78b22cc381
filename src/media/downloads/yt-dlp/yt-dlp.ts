// Videos of other sites with yt-dlp: their metadata, their files, and lists of them.

import { type Dial, type GuardedProxy, openGuardedProxy } from '../../../platform/fetch/index.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { Ffmpeg } from '../../ffmpeg/find.ts'
import type { DownloadedVideo, DownloadOptions } from '../download.ts'
import { DownloadError, tooLarge } from '../download-error.ts'
import { besideOutput, forgetOthers, killOrphanedJoin, pictureIn, subtitlesIn, videoIn, videoOutput } from './files.ts'
import type { Program } from './find.ts'
import { readVideoInfo, readVideoList, type VideoInfo } from './info.ts'
import { killOrphanedYtDlp, type RunYtDlpOptions, runYtDlp, type YtDlpLimits } from './run.ts'
import { proxySocketIn, type Sandbox } from './sandbox.ts'

export interface YtDlpOptions {
  program: Program
  /** Undefined if the system does not support one: then only the program's cooperation keeps it at the proxy. */
  sandbox: Sandbox | undefined
  dial: Dial
  logger: Logger
  /** To mux separate parts. */
  ffmpeg: Ffmpeg
  /** Largest useful height of a picture, px. */
  maxHeight: number
  limits: YtDlpLimits & { stallMs: number }
}

export type YtDlp = ReturnType<typeof makeYtDlp>

/** Bytes of descriptions, pictures and subtitles of a video. */
const BESIDE = 64 * 1024 * 1024
/** Bytes of the description of a video, or of a list of thousands. */
const MAX_INFO = 8 * 1024 * 1024
const MAX_LIST = 32 * 1024 * 1024
const PROGRESS = 'vireo-progress'
/** A list is refused anyway: there is no need to read all its entries. */
const FIRST_OF_A_LIST = ['--flat-playlist', '--playlist-end', '1']
/** Codes of languages; sites also list other things as subtitles. A comma would split the option. */
const LANGUAGES = '[A-Za-z][A-Za-z][A-Za-z]?(-[A-Za-z0-9]+)*'

export function makeYtDlp({ program, sandbox, dial, logger, ffmpeg, maxHeight, limits }: YtDlpOptions) {
  /** Runs it with its own proxy, which passes at most `maxBytes`. */
  async function run(
    maxBytes: number,
    options: Omit<RunYtDlpOptions, 'program' | 'sandbox' | 'proxy' | 'limits' | 'maxOutputBytes'> & {
      maxOutputBytes?: number
    },
  ): Promise<string> {
    const socket = sandbox && (await proxySocketIn(options.folder))
    let proxy: GuardedProxy | undefined
    try {
      proxy = await openGuardedProxy({ dial, maxBytes, silenceMs: limits.silenceMs, logger, socket })
      return await runYtDlp({ maxOutputBytes: MAX_INFO, ...options, program, sandbox, limits, proxy: proxy.url })
    } catch (error) {
      throw proxy?.isOver ? tooLarge(error) : error
    } finally {
      await proxy?.close()
      await socket?.close()
    }
  }

  const describe = async (url: string, { folder, signal }: DownloadOptions): Promise<VideoInfo> =>
    readVideoInfo(
      await run(BESIDE, {
        url,
        folder,
        signal,
        args: [...FIRST_OF_A_LIST, '--no-playlist', '--dump-single-json', '--format', formatsUpTo(maxHeight)],
      }),
    )

  async function fetchVideo(url: string, options: DownloadOptions): Promise<void> {
    const { folder, maxBytes, signal, onProgress } = options
    await run(maxBytes + BESIDE, {
      url,
      folder,
      signal,
      args: [
        '--no-playlist',
        '--format',
        formatsUpTo(maxHeight),
        ...videoOutput,
        '--no-part',
        '--no-mtime',
        '--newline',
        '--progress',
        '--progress-template',
        `download:${PROGRESS} %(progress.downloaded_bytes)s %(progress.total_bytes)s`,
      ],
      onOutputLine: (line) => readProgress(line, onProgress),
    })
  }

  /** Its picture and its subtitles, if available: the video is complete without them. */
  async function fetchBeside(url: string, languages: string[], { folder, signal }: DownloadOptions): Promise<void> {
    const isSpoken = languages.some((language) => new RegExp(`^${LANGUAGES}$`).test(language))
    const subtitles = isSpoken ? ['--write-subs', '--sub-langs', LANGUAGES, '--sub-format', 'vtt/srt/best'] : []
    try {
      const args = ['--no-playlist', '--skip-download', '--ignore-errors', ...besideOutput, '--write-thumbnail']
      await run(BESIDE, { url, folder, signal, args: [...args, ...subtitles], onOutputLine: () => {} })
    } catch (error) {
      signal.throwIfAborted()
      logger.debug({ err: error }, 'not all that belongs to a video of another site was got')
    }
  }

  return {
    async download(url: string, options: DownloadOptions): Promise<DownloadedVideo> {
      await killOrphanedYtDlp(options.folder)
      await killOrphanedJoin(options.folder)
      const { isLive, size, format, languages, metadata } = await describe(url, options)
      if (isLive) throw new DownloadError('unusable', 'A live stream cannot be imported before it has ended.')
      if (size !== undefined && size > options.maxBytes) throw tooLarge()
      await forgetOthers(options.folder, format)
      await fetchVideo(url, options)
      const video = await videoIn({ ...options, ffmpeg, limits })
      await fetchBeside(url, languages, options)
      const { folder } = options
      return { ...video, metadata, picturePath: await pictureIn(folder), subtitles: await subtitlesIn(folder) }
    },

    /** Newest first, as sites list them; at most `limit`. */
    async list(url: string, { limit, folder, signal }: { limit: number; folder: string; signal: AbortSignal }) {
      const args = ['--flat-playlist', '--dump-single-json', '--playlist-end', String(limit)]
      return readVideoList(await run(BESIDE, { url, folder, signal, args, maxOutputBytes: MAX_LIST }), limit)
    },
  }
}

/** HTTP protocols only: nothing else passes the proxy, and some would start other programs. */
const BY_HTTP = "[protocol~='^(https?|http_dash_segments|m3u8(_native)?|ism)$']"

/** Prefers formats that play nearly everywhere. The height of a page's only file is often unknown. */
function formatsUpTo(maxHeight: number): string {
  const fits = `${BY_HTTP}[height<=?${maxHeight}]`
  return [
    `bestvideo${fits}[vcodec^=avc1]+bestaudio${BY_HTTP}[ext=m4a]`,
    `bestvideo${fits}+bestaudio${BY_HTTP}`,
    `best${fits}`,
    `best${BY_HTTP}`,
    `bestaudio${BY_HTTP}`,
  ].join('/')
}

function readProgress(line: string, onProgress: (percent: number) => void): void {
  const found = new RegExp(`^${PROGRESS} (\\d+) (\\d+)`).exec(line)
  if (found && Number(found[2]) > 0) onProgress(Math.min(100, (Number(found[1]) / Number(found[2])) * 100))
}
