// Finds the ffmpeg and ffprobe to use, and their features.

import { execFile } from 'node:child_process'
import { access, chmod, constants, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { MediaError, messageOf } from '../errors.ts'

const run = promisify(execFile)

export interface Ffmpeg {
  ffmpegPath: string
  ffprobePath: string
  /** The version as ffmpeg prints it, such as `5.1.6-0+deb12u1` or `N-47683-g0e8eb07980-static`. */
  version: string
  /** True if HDR sources can be tone-mapped. */
  canToneMap: boolean
  /** Output options that keep the frame times of the filters, without duplicates. */
  asFiltered: readonly string[]
  /** Warnings for the log at the start, one line each. */
  warnings: string[]
}

export interface FindFfmpegOptions {
  /** Used as they are, without a search. */
  ffmpegPath?: string | undefined
  ffprobePath?: string | undefined
  /** The search path; the environment's by default. */
  path?: string | undefined
}

/**
 * Prefers the given paths, then the binaries on PATH if their ffmpeg encodes H.264 and AAC, then the packaged ones. Throws MediaError
 * `ffmpeg-missing` with a one-line message and a remedy.
 */
export async function findFfmpeg(options: FindFfmpegOptions = {}): Promise<Ffmpeg> {
  const reasons: string[] = []
  for (const candidate of await candidates(options)) {
    const { ffmpegPath, ffprobePath } = candidate
    const found = await inspect(ffmpegPath, ffprobePath)
    if (typeof found === 'string') reasons.push(found)
    else return { ffmpegPath, ffprobePath, ...found }
  }
  const why = reasons.length > 0 ? reasons.join('; ') : 'none was found on PATH or among the installed packages'
  throw new MediaError(
    'ffmpeg-missing',
    `No usable ffmpeg: ${why}. Install ffmpeg with libx264 and ffprobe, or run npm install again for the packaged ones.`,
  )
}

interface Candidate {
  ffmpegPath: string
  ffprobePath: string
}

async function candidates(options: FindFfmpegOptions): Promise<Candidate[]> {
  const searchPath = options.path ?? process.env.PATH ?? ''
  const onPath = {
    ffmpeg: await findOnPath('ffmpeg', searchPath),
    ffprobe: await findOnPath('ffprobe', searchPath),
  }
  const packaged = {
    ffmpeg: await findPackaged('@ffmpeg-installer', 'ffmpeg'),
    ffprobe: await findPackaged('@ffprobe-installer', 'ffprobe'),
  }
  if (options.ffmpegPath !== undefined) {
    const ffprobePath = options.ffprobePath ?? onPath.ffprobe ?? packaged.ffprobe ?? 'ffprobe'
    return [{ ffmpegPath: options.ffmpegPath, ffprobePath }]
  }
  const found: Candidate[] = []
  const systemProbe = options.ffprobePath ?? onPath.ffprobe ?? packaged.ffprobe
  if (onPath.ffmpeg && systemProbe) {
    found.push({ ffmpegPath: onPath.ffmpeg, ffprobePath: systemProbe })
  }
  const packagedProbe = options.ffprobePath ?? packaged.ffprobe ?? onPath.ffprobe
  if (packaged.ffmpeg && packagedProbe) {
    found.push({ ffmpegPath: packaged.ffmpeg, ffprobePath: packagedProbe })
  }
  return found
}

async function findOnPath(name: string, searchPath: string): Promise<string | undefined> {
  const file = process.platform === 'win32' ? `${name}.exe` : name
  for (const folder of searchPath.split(delimiter).filter((entry) => entry !== '')) {
    const path = join(folder, file)
    if (await isExecutable(path)) return path
  }
  return undefined
}

/** The binary of an optional package, made executable here because its install script does not run. */
async function findPackaged(scope: string, name: string): Promise<string | undefined> {
  const require = createRequire(import.meta.url)
  const file = process.platform === 'win32' ? `${name}.exe` : name
  try {
    const path = require.resolve(`${scope}/${process.platform}-${process.arch}/${file}`)
    if (!(await isExecutable(path))) await chmod(path, 0o755)
    return path
  } catch {
    return undefined
  }
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}

/** The features of the binaries, or why they are unusable. */
async function inspect(ffmpegPath: string, ffprobePath: string) {
  try {
    const options = { timeout: 20_000, maxBuffer: 4 << 20 }
    const [version, encoders, filters, help] = await Promise.all([
      run(ffmpegPath, ['-hide_banner', '-version'], options),
      run(ffmpegPath, ['-hide_banner', '-encoders'], options),
      run(ffmpegPath, ['-hide_banner', '-filters'], options),
      run(ffmpegPath, ['-hide_banner', '-h', 'long'], options),
      run(ffprobePath, ['-hide_banner', '-version'], options),
    ])
    for (const encoder of ['libx264', 'aac']) {
      if (!listed(encoders.stdout, encoder)) return `${ffmpegPath} was built without ${encoder}`
    }
    const name = /^ffmpeg version (\S+)/m.exec(version.stdout)?.[1] ?? 'unknown'
    return {
      version: name,
      canToneMap: listed(filters.stdout, 'zscale') && listed(filters.stdout, 'tonemap'),
      // Since 5.1, which deprecated the older one.
      asFiltered: [/^-fps_mode/m.test(help.stdout) ? '-fps_mode' : '-vsync', 'vfr'],
      warnings: warningsOf(name, version.stdout),
    }
  } catch (error) {
    return `${ffmpegPath} or ${ffprobePath} cannot be run (${firstLine(messageOf(error))})`
  }
}

const listed = (table: string, name: string): boolean => new RegExp(`^ \\S+\\s+${name}\\s`, 'm').test(table)

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? ''

/** Known vulnerabilities reachable by users' files, with the fixed release of each line. */
const HOLES = [
  {
    name: 'CVE-2026-8461',
    // Later lines contain the fix from their first release on.
    fixedIn: { 5.1: 10, 6.1: 6, 7.1: 5, 8.1: 2 } as Readonly<Record<string, number>>,
    lastLine: 8.1,
    kept: 'its decoder (MagicYUV) is switched off here',
  },
]

/** Warnings about a build without security updates, or with known vulnerabilities: it is used only behind the guard. */
function warningsOf(version: string, banner: string): string[] {
  const [, major, minor, patch] = /^n?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version) ?? []
  const builtUntil = Number(/\(c\) \d{4}-(\d{4})/.exec(banner)?.[1] ?? Number.NaN)
  const isOld = major === undefined ? builtUntil < 2022 : Number(major) < 5
  if (isOld) {
    return [
      `ffmpeg ${version} is an old build without security fixes (${namesOf(HOLES)} among others); install a current ffmpeg package for production.`,
    ]
  }
  // A build from a branch contains its date, but not what was merged.
  if (major === undefined || minor === undefined) return []
  const open = HOLES.filter(({ fixedIn, lastLine }) => {
    const line = Number(`${major}.${minor}`)
    const fix = fixedIn[`${major}.${minor}`]
    return fix === undefined ? line < lastLine : Number(patch ?? 0) < fix
  })
  if (open.length === 0) return []
  const why = open.map(({ name, kept }) => `${name} (${kept})`).join(', ')
  return [`ffmpeg ${version} has ${why}, unless its packager closed it without a new version; update it.`]
}

const namesOf = (holes: readonly { name: string }[]): string => holes.map(({ name }) => name).join(', ')
