// Runs yt-dlp: without a shell, in a folder of its own, with a proxy of ours as its only way out, and never longer than
// allowed. With it end all programs that it started.

import { type ChildProcess, spawn } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { killGroup, killGroupOf } from '../../process.ts'
import { DownloadError } from '../download-error.ts'
import type { Program } from './find.ts'

export interface RunYtDlpOptions {
  program: Program
  args: string[]
  /** The address, which nothing takes for an option. */
  url: string
  /** Where it works and keeps whatever it keeps. */
  folder: string
  /** The proxy's URL with its credentials. */
  proxy: string
  /** Longest time without a line, in ms. */
  silenceMs: number
  signal: AbortSignal
  /** Each line of its standard output that is not kept. Answers whether the line was taken. */
  onLine?: (line: string) => boolean
}

/** What is kept of its output, bytes: the description of a playlist of thousands of videos. */
const MAX_OUTPUT = 32 * 1024 * 1024
const MAX_ERRORS = 4000
const PID_FILE = 'yt-dlp.pid'

/** What it is told each time: nothing of this machine is read, nothing is run, nothing is kept. */
const ALWAYS = ['--ignore-config', '--no-cache-dir', '--no-exec']

/** What it printed. Throws DownloadError, and the reason of the signal, always after all its processes are gone. */
export async function runYtDlp(options: RunYtDlpOptions): Promise<string> {
  const { program, args, url, folder, proxy, silenceMs, signal, onLine } = options
  signal.throwIfAborted()
  const pidFile = join(folder, PID_FILE)
  const child = spawn(program.command, [...program.args, ...ALWAYS, '--proxy', proxy, ...args, '--', url], {
    cwd: folder,
    // A group of its own, so that all that it starts can be ended with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(folder, proxy),
  })
  let killedFor: unknown
  const kill = (reason: unknown): void => {
    killedFor ??= reason
    killGroup(child)
  }
  const onAbort = () => kill(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  let timer: NodeJS.Timeout | undefined
  const heard = () => {
    clearTimeout(timer)
    timer = setTimeout(() => kill(new DownloadError('time-out', 'The other server did not answer in time.')), silenceMs)
  }
  heard()
  if (child.pid !== undefined) await writeFile(pidFile, `${child.pid}`).catch(() => undefined)
  const output = collect(child, {
    heard,
    onLine,
    onFlood: () => kill(new DownloadError('unusable', 'There is too much at this address.')),
  })
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    if (killedFor) throw killedFor
    if (code !== 0) throw new DownloadError('failed', reasonOf(output.errors()))
    return output.text()
  } catch (error) {
    if (killedFor || error instanceof DownloadError) throw error
    throw new DownloadError('no-program', 'The program for this kind of address cannot be run.', { cause: error })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    killGroup(child)
    await rm(pidFile, { force: true })
  }
}

/** Ends what a worker that died left running in the folder. */
export async function killOrphanedYtDlp(folder: string): Promise<void> {
  const pid = Number(await readFile(join(folder, PID_FILE), 'utf8').catch(() => ''))
  if (!Number.isInteger(pid) || pid <= 1) return
  const environ = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
  // Process ids are used again: only one that works in this very folder is ours.
  if (environ.split('\0').includes(`TMPDIR=${folder}`)) killGroupOf(pid)
}

function collect(
  child: ChildProcess,
  { heard, onLine, onFlood }: { heard: () => void; onLine: RunYtDlpOptions['onLine'] | undefined; onFlood: () => void },
) {
  const kept: string[] = []
  let bytes = 0
  let rest = ''
  let errors = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    heard()
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (onLine?.(line)) continue
      bytes += line.length
      kept.push(line)
    }
    if (bytes + rest.length > MAX_OUTPUT) onFlood()
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    heard()
    errors = (errors + text).slice(-MAX_ERRORS)
  })
  return { text: () => [...kept, rest].join('\n'), errors: () => errors }
}

/** Nothing of the server's own environment: there may be secrets in it. */
const environment = (folder: string, proxy: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
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
