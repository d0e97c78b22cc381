// Keeps the folder of log files from growing: of each kind of process only so many files stay, those of ended processes included.

import { rm } from 'node:fs/promises'
import { type LogFile, listLogFiles, plainHost } from './names.ts'

/** A file of another machine that its process did not touch for so long is taken for one of an ended process. */
const SIGN_OF_LIFE_MS = 3 * 3_600_000

export interface TidyOptions {
  directory: string
  kind: string
  host: string
  /** Files of the kind that stay. */
  maxFiles: number
  now: () => number
  isAlive?: (pid: number) => boolean
}

/** Removes the oldest files that are too many; never one that a living process writes. */
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
