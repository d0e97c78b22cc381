// The names of log files. Several processes and machines may share the folder: each writes to a file of its own name.
//
//   vireo-<kind>-<host>-<pid>.log                        being written
//   vireo-<kind>-<host>-<pid>.<yyyymmddThhmmss>.<n>.log  full

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

export interface LogFileName {
  /** The roles of its process. */
  kind: string
  host: string
  pid: number
  /** Complete: nothing is appended any more. */
  isFull: boolean
}

export interface LogFile extends LogFileName {
  path: string
  name: string
  /** Bytes. */
  size: number
  /** Milliseconds since 1970; no line of the file is younger. */
  changedAt: number
}

const NAME = /^vireo-([a-z+]+)-(\w+)-(\d+)(\.\d{8}T\d{6}\.\d+)?\.log$/

export function readLogFileName(name: string): LogFileName | undefined {
  const [, kind, host, pid, full] = NAME.exec(name) ?? []
  if (kind === undefined || host === undefined) return undefined
  return { kind, host, pid: Number(pid), isFull: full !== undefined }
}

export const logFileName = ({ kind, host, pid }: Pick<LogFileName, 'kind' | 'host' | 'pid'>): string =>
  `vireo-${kind}-${plainHost(host)}-${pid}.log`

/** The name of a file when it is full. */
export const fullLogFileName = (of: Parameters<typeof logFileName>[0], at: Date, index: number): string => {
  const moment = at.toISOString().replace(/[-:]|\.\d+Z$/g, '')
  return logFileName(of).replace(/\.log$/, `.${moment}.${index}.log`)
}

export const plainHost = (host: string): string => host.replace(/\W/g, '_').slice(0, 60) || '_'

/** The log files of a folder, the most recently changed first; none without the folder. */
export async function listLogFiles(directory: string): Promise<LogFile[]> {
  const names = await readdir(directory).catch(() => [])
  const files = await Promise.all(
    names.map(async (name): Promise<LogFile[]> => {
      const read = readLogFileName(name)
      if (!read) return []
      const path = join(directory, name)
      // Another process may have removed it meanwhile.
      const found = await stat(path).catch(() => undefined)
      return found?.isFile() ? [{ ...read, path, name, size: found.size, changedAt: found.mtimeMs }] : []
    }),
  )
  return files.flat().toSorted((a, b) => b.changedAt - a.changedAt)
}
