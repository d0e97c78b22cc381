// Videos of other sites by yt-dlp: what they are, their files, and lists of them.

import { readdir, readFile, rename, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { type Dial, type GuardedProxy, openGuardedProxy } from '../../../platform/fetch/index.ts'
import type { Logger } from '../../../platform/logger.ts'
import { DownloadError, tooLarge } from '../download-error.ts'
import type { DownloadedVideo, DownloadOptions } from '../downloads.ts'
import type { Program } from './find.ts'
import { type RemoteVideoEntry, readVideoInfo, readVideoList, type VideoInfo } from './info.ts'
import { killOrphanedYtDlp, runYtDlp } from './run.ts'

export interface YtDlpOptions {
  program: Program
  dial: Dial
  logger: Logger
  /** ffmpeg, for what comes in parts. */
  ffmpegPath: string
  /** Largest height of a picture that is of use, px. */
  maxHeight: number
  silenceMs: number
}

export interface YtDlp {
  download(url: string, options: DownloadOptions): Promise<DownloadedVideo>
  /** The newest first, as sites list them; at most `limit`. */
  list(url: string, options: { limit: number; folder: string; signal: AbortSignal }): Promise<RemoteVideoEntry[]>
}

/** Bytes of descriptions, pictures and subtitles beside a video. */
const BESIDE = 64 * 1024 * 1024
const MAX_SUBTITLES = 100
const MAX_SUBTITLE_SIZE = 20 * 1024 * 1024
const PROGRESS = 'vireo-progress'

export function makeYtDlp({ program, dial, logger, ffmpegPath, maxHeight, silenceMs }: YtDlpOptions): YtDlp {
  /** Runs `work` behind a proxy of its own. */
  async function behindProxy<T>(maxBytes: number, work: (proxy: GuardedProxy) => Promise<T>): Promise<T> {
    const proxy = await openGuardedProxy({ dial, maxBytes, silenceMs, logger })
    try {
      return await work(proxy)
    } catch (error) {
      throw proxy.isOver ? tooLarge(error) : error
    } finally {
      await proxy.close()
    }
  }

  const describe = (url: string, { folder, signal }: DownloadOptions): Promise<VideoInfo> =>
    behindProxy(BESIDE, async (proxy) =>
      readVideoInfo(
        await runYtDlp({
          ...{ program, url, folder, proxy: proxy.url, silenceMs, signal },
          args: ['--no-playlist', '--dump-single-json', '--format', formatsUpTo(maxHeight)],
        }),
      ),
    )

  async function fetchFiles(url: string, options: DownloadOptions): Promise<void> {
    const { folder, maxBytes, signal, onProgress } = options
    await behindProxy(maxBytes + BESIDE, (proxy) =>
      runYtDlp({
        ...{ program, url, folder, proxy: proxy.url, silenceMs, signal },
        args: [
          ...['--no-playlist', '--format', formatsUpTo(maxHeight), '--merge-output-format', 'mp4'],
          ...['--output', 'video.%(ext)s', '--ffmpeg-location', ffmpegPath, '--downloader', 'native'],
          ...['--write-thumbnail', '--write-subs', '--sub-langs', 'all,-live_chat', '--sub-format', 'vtt/srt/best'],
          ...['--no-part', '--no-mtime', '--newline', '--progress'],
          ...['--progress-template', `download:${PROGRESS} %(progress.downloaded_bytes)s %(progress.total_bytes)s`],
        ],
        onLine: (line) => readProgress(line, onProgress),
      }),
    )
  }

  return {
    async download(url, options) {
      await killOrphanedYtDlp(options.folder)
      const info = await describe(url, options)
      if (info.isLive) throw new DownloadError('unusable', 'A live stream cannot be imported before it has ended.')
      if (info.size !== undefined && info.size > options.maxBytes) throw tooLarge()
      await fetchFiles(url, options)
      return { ...(await filesIn(options)), metadata: info.metadata }
    },

    list: (url, { limit, folder, signal }) =>
      behindProxy(BESIDE, async (proxy) =>
        readVideoList(
          await runYtDlp({
            ...{ program, url, folder, proxy: proxy.url, silenceMs, signal },
            args: ['--flat-playlist', '--dump-single-json', '--playlist-end', String(limit)],
          }),
        ).slice(0, limit),
      ),
  }
}

/** What plays nearly everywhere first; by HTTP alone, since nothing else goes through the proxy. */
function formatsUpTo(maxHeight: number): string {
  const fits = `[height<=${maxHeight}][protocol!^=rtmp][protocol!^=rtsp][protocol!^=mms]`
  return [
    `bestvideo${fits}[vcodec^=avc1]+bestaudio[ext=m4a]`,
    `bestvideo${fits}+bestaudio`,
    `best${fits}`,
    'best',
    'bestaudio',
  ].join('/')
}

function readProgress(line: string, onProgress: (percent: number) => void): boolean {
  const found = new RegExp(`^${PROGRESS} (\\d+) (\\d+)`).exec(line)
  if (found && Number(found[2]) > 0) onProgress(Math.min(100, (Number(found[1]) / Number(found[2])) * 100))
  return line.startsWith(PROGRESS)
}

const PICTURES = ['.jpg', '.jpeg', '.png', '.webp']
const SUBTITLE = /^video\.([A-Za-z0-9-]{2,20})\.(vtt|srt)$/
/** Not a video, or not whole. */
const BESIDE_THE_VIDEO = [...PICTURES, '.vtt', '.srt', '.part', '.ytdl', '.json', '.pid', '.temp']

/** What it left in its folder. */
async function filesIn({ folder, maxBytes }: DownloadOptions): Promise<Omit<DownloadedVideo, 'metadata'>> {
  const names = await readdir(folder)
  const videos = names.filter((name) => name.startsWith('video.') && !BESIDE_THE_VIDEO.includes(extname(name)))
  const [video] = videos.filter((name) => /^video\.[a-z0-9]{1,5}$/.test(name))
  if (!video) throw new DownloadError('unusable', 'There is no video at this address.')
  const { size } = await stat(join(folder, video))
  if (size > maxBytes) throw tooLarge()
  const path = join(folder, `complete${extname(video)}`)
  await rename(join(folder, video), path)
  const picture = names.find((name) => name.startsWith('video.') && PICTURES.includes(extname(name)))
  return {
    path,
    fileName: `video${extname(video)}`,
    picturePath: picture && join(folder, picture),
    subtitles: await subtitlesIn(folder, names),
  }
}

async function subtitlesIn(folder: string, names: string[]): Promise<NonNullable<DownloadedVideo['subtitles']>> {
  const found: { language: string; bytes: Uint8Array }[] = []
  for (const name of names.slice(0, MAX_SUBTITLES)) {
    const language = SUBTITLE.exec(name)?.[1]
    if (language === undefined || (await stat(join(folder, name))).size > MAX_SUBTITLE_SIZE) continue
    found.push({ language, bytes: await readFile(join(folder, name)) })
  }
  return found
}
