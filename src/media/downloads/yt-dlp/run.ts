// Runs yt-dlp: without a shell, in a folder of its own, with a local proxy as its only network access, and with limits of time and memory.
// All its child processes end with it.

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
  /** Bytes of memory, with its children. */
  maxMemoryBytes: number
}

export interface RunYtDlpOptions {
  program: Program
  sandbox?: Sandbox | undefined
  args: string[]
  /** The address, passed so that it cannot be an option. */
  url: string
  /** Its working folder, also for its caches. */
  folder: string
  /** The proxy's URL with its credentials. */
  proxy: string
  limits: YtDlpLimits
  /** Maximum bytes of standard output; more is an error. */
  maxOutputBytes: number
  signal: AbortSignal
  /** Gets each line of standard output, which is not buffered then. */
  onOutputLine?: (line: string) => void
}

const PID_FILE = 'yt-dlp.pid'

/**
 * Constant options: it reads no configuration, runs no programs and caches nothing. It finds no ffmpeg either, whose requests would bypass
 * the guard: parts are muxed by this server.
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

/** Its output. Throws DownloadError, and the reason of the signal, always after all its processes have ended. */
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
    // Any output is a sign of life.
    onLine: () => true,
    ...(onOutputLine ? { onOutputLine } : {}),
  }).catch((error: unknown) => {
    // The error itself contains all arguments, including the address and the password of the proxy.
    const cause = new Error(systemCode(error))
    throw new DownloadError('no-program', 'The program for this kind of address cannot be run.', { cause })
  })
  signal.throwIfAborted()
  if (end.killedFor !== undefined || end.code !== 0) throw failureOf(end)
  return end.stdout
}

/**
 * It gives addresses outside of the web special meanings, and also fragments, by which its extractors pass options such as headers to each
 * other.
 */
function addressFor(url: string): string {
  const address = webAddress(url)
  if (address === undefined) throw new DownloadError('refused', 'The server does not import from this address.')
  return address
}

/** Ends the process of a worker that died in this folder. */
export const killOrphanedYtDlp = (folder: string): Promise<void> => killOrphan(join(folder, PID_FILE), folder)

/** Without the server's own environment, which may contain secrets. */
const environment = (folder: string, proxy: string, { searchPath }: Program): NodeJS.ProcessEnv => ({
  PATH: searchPath,
  LANG: 'C.UTF-8',
  HOME: folder,
  TMPDIR: folder,
  XDG_CONFIG_HOME: folder,
  XDG_CACHE_HOME: folder,
  PYTHONDONTWRITEBYTECODE: '1',
  // For its child processes.
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
      return new DownloadError('failed', 'The video at this address needs more memory than this server allows.')
  }
}

/** The program's own last lines, without details of this machine. */
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
