// Limits the number of log files per kind of process, including those of ended processes.

import { rm } from 'node:fs/promises'
import { type LogFile, listLogFiles, plainHost } from './names.ts'

/** A file of another machine that was not touched for this long belongs to an ended process. */
const SIGN_OF_LIFE_MS = 3 * 3_600_000

export interface TidyOptions {
  directory: string
  kind: string
  host: string
  /** Maximum files of the kind. */
  maxFiles: number
  now: () => number
  isAlive?: (pid: number) => boolean
}

/** Removes the oldest excess files; never one that a living process writes. */
export async function tidyLogFiles(options: TidyOptions): Promise<void> {
  const files = await listLogFiles(options.directory)
  for (const { path } of tooMany(files, options)) await rm(path, { force: true })
}

export function tooMany(files: readonly LogFile[], options: Omit<TidyOptions, 'directory'>): LogFile[] {
  const { kind, host, maxFiles, now, isAlive = isProcess } = options
  const isWritten = (file: LogFile): boolean => {
    if (file.isFull) return false
    return file.host === plainHost(host) ? isAlive(file.pid) : file.changedAt > now() - SIGN_OF_LIFE_MS
  }
  return files
    .filter((file) => file.kind === kind)
    .toSorted((a, b) => b.changedAt - a.changedAt)
    .slice(maxFiles)
    .filter((file) => !isWritten(file))
}

function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
