// Runs yt-dlp: without a shell, in a folder of its own, with a local proxy as its only way out, and never longer or with more
// memory than allowed. With it end all programs that it started.

import { join } from 'node:path'
import { systemCode } from '../../errors.ts'
import { killOrphan, type ProcessEnd, runProcess } from '../../process.ts'
import { DownloadError } from '../download-error.ts'
import type { Program } from './find.ts'
import { webAddress } from './info.ts'
import type { Sandbox } from './sandbox.ts'

export interface YtDlpLimits {
  /** Longest time without output, in ms. */
  silenceMs: number
  /** Bytes of memory, with all that it starts. */
  maxMemoryBytes: number
}

export interface RunYtDlpOptions {
  program: Program
  sandbox?: Sandbox | undefined
  args: string[]
  /** The address, which nothing takes for an option. */
  url: string
  /** Where it works and keeps whatever it keeps. */
  folder: string
  /** The proxy's URL with its credentials. */
  proxy: string
  limits: YtDlpLimits
  /** Bytes of standard output that are kept; more than that is refused. */
  maxOutputBytes: number
  signal: AbortSignal
  /** Takes each line of its standard output, of which nothing is kept then. */
  onOutputLine?: (line: string) => void
}

const PID_FILE = 'yt-dlp.pid'

/**
 * What it is told each time: nothing of this machine is read, nothing is run, nothing is kept. It finds no ffmpeg either, whose
 * inputs would come without our guard: what comes in parts is put together here.
 */
const ALWAYS = [
  '--ignore-config',
  '--no-cache-dir',
  '--no-exec',
  '--fixup',
  'never',
  '--ffmpeg-location',
  'no-ffmpeg',
  '--downloader',
  'native',
]

/** What it printed. Throws DownloadError, and the reason of the signal, always after all its processes are gone. */
export async function runYtDlp(options: RunYtDlpOptions): Promise<string> {
  const { program, sandbox, args, url, folder, proxy, limits, maxOutputBytes, signal, onOutputLine } = options
  signal.throwIfAborted()
  const [command = '', ...before] = [...(sandbox ? [sandbox.command, ...sandbox.args] : []), program.command]
  const address = addressFor(url)
  const end = await runProcess({
    path: command,
    args: [...before, ...program.args, ...ALWAYS, '--proxy', proxy, ...args, '--', address],
    limits: { stallMs: limits.silenceMs, maxMemoryBytes: limits.maxMemoryBytes, maxOutputBytes },
    cwd: folder,
    env: environment(folder, proxy, program),
    signal,
    pidFile: join(folder, PID_FILE),
    // Whatever it says shows that it lives.
    onLine: () => true,
    ...(onOutputLine ? { onOutputLine } : {}),
  }).catch((error: unknown) => {
    // The error itself names all arguments, and with them the address and the password of the proxy.
    const cause = new Error(systemCode(error))
    throw new DownloadError('no-program', 'The program for this kind of address cannot be run.', { cause })
  })
  signal.throwIfAborted()
  if (end.killedFor !== undefined || end.code !== 0) throw failureOf(end)
  return end.stdout
}

/**
 * Other addresses than of the web have meanings of their own to it, and so have fragments, by which its extractors pass options
 * such as headers to each other.
 */
function addressFor(url: string): string {
  const address = webAddress(url)
  if (address === undefined) throw new DownloadError('refused', 'The server does not import from this address.')
  return address
}

/** Ends what a worker that died left running in the folder. */
export const killOrphanedYtDlp = (folder: string): Promise<void> => killOrphan(join(folder, PID_FILE), folder)

/** Nothing of the server's own environment: there may be secrets in it. */
const environment = (folder: string, proxy: string, { searchPath }: Program): NodeJS.ProcessEnv => ({
  PATH: searchPath,
  LANG: 'C.UTF-8',
  HOME: folder,
  TMPDIR: folder,
  XDG_CONFIG_HOME: folder,
  XDG_CACHE_HOME: folder,
  PYTHONDONTWRITEBYTECODE: '1',
  // For what it starts by itself.
  http_proxy: proxy,
  https_proxy: proxy,
})

function failureOf({ killedFor, stderr }: ProcessEnd): DownloadError {
  switch (killedFor) {
    case undefined:
      return new DownloadError('failed', reasonOf(stderr))
    case 'stalled':
      return new DownloadError('time-out', 'The other server did not answer in time.')
    case 'output':
      return new DownloadError('unusable', 'There is too much at this address.')
    default:
      return new DownloadError('failed', 'The video at this address takes more than this server has for it.')
  }
}

/** The program's own last words, without what concerns this machine. */
function reasonOf(errors: string): string {
  const lines = errors.split(/\r?\n/).filter((line) => line.startsWith('ERROR:'))
  const last = lines.at(-1)?.slice('ERROR:'.length).trim() ?? ''
  const words = last
    .replace(/https?:\/\/\S+/g, '')
    .replace(/(^|\s)\/\S+/g, '$1')
    .slice(0, 200)
    .trim()
  return words === '' ? 'The video at this address cannot be downloaded.' : `The video cannot be downloaded: ${words}`
}
