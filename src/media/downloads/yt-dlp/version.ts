// The installed version of yt-dlp, and which versions are safe to run.

import { stat } from 'node:fs/promises'
import { runProcess } from '../../process.ts'
import { type FindYtDlpOptions, locateYtDlp, type Program } from './find.ts'

/**
 * Older versions have vulnerabilities that a page can exploit, however they are started: CVE-2023-46121 (headers smuggled in an address
 * replace the proxy; fixed in 2023.11.14) and CVE-2024-38519 (file names are taken from a page; fixed in 2024.07.01). Later advisories are
 * about options that are not used here.
 */
export const OLDEST_SAFE_YT_DLP = '2024.07.01'

/** Its versions are dates; nightly builds append a time. Other versions are not known to be safe. */
export function isSafeYtDlp(version: string): boolean {
  const [, year, month, day] = /^(\d{4})\.(\d\d?)\.(\d\d?)(\.\d+)?$/.exec(version) ?? []
  if (year === undefined || month === undefined || day === undefined) return false
  return `${year}.${month.padStart(2, '0')}.${day.padStart(2, '0')}` >= OLDEST_SAFE_YT_DLP
}

/** Python reads hundreds of files before the first output. */
const TIMEOUT_MS = 15_000
const MAX_OUTPUT = 10_000

export interface FoundYtDlp {
  path: string
  /** As printed, such as `2025.01.26`; undefined if it does not run. */
  version: string | undefined
}

/** Undefined if it is not installed. */
export async function checkYtDlp(options: Omit<FindYtDlpOptions, 'links'>): Promise<FoundYtDlp | undefined> {
  const program = await locateYtDlp(options)
  return program && { path: fileOf(program), version: await versionOf({ ...program, searchPath: options.path ?? '' }) }
}

/** Caches the version of each program file. */
export function makeVersionCache(): (program: Program) => Promise<string | undefined> {
  const known = new Map<string, { identity: string; version: string }>()
  return async (program) => {
    const path = fileOf(program)
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path)
    const identity = [dev, ino, size, mtimeMs, ctimeMs].join(':')
    const before = known.get(path)
    if (before?.identity === identity) return before.version
    const version = await versionOf(program)
    if (version !== undefined) known.set(path, { identity, version })
    return version
  }
}

const fileOf = ({ command, args }: Pick<Program, 'command' | 'args'>): string => args[0] ?? command

async function versionOf({ command, args, searchPath }: Program): Promise<string | undefined> {
  const end = await runProcess({
    path: command,
    args: [...args, '--ignore-config', '--version'],
    limits: { timeoutMs: TIMEOUT_MS, maxOutputBytes: MAX_OUTPUT },
    env: { PATH: searchPath, LANG: 'C.UTF-8', PYTHONDONTWRITEBYTECODE: '1' },
  }).catch(() => undefined)
  const version = end?.code === 0 ? end.stdout.trim().split('\n', 1)[0] : undefined
  return version === '' ? undefined : version
}
