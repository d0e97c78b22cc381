// Serves files of an administrator's folder by untrusted paths.

import { realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'

export interface FolderFile {
  /** The resolved path. */
  path: string
  /** Bytes. */
  size: number
  modifiedAt: Date
}

/**
 * The plain file of a path below `root`, which must be a real path; undefined if there is none. Nothing outside is found, neither by `..`
 * nor through a link, nor names that begin with a dot.
 */
export async function fileIn(root: string, path: string): Promise<FolderFile | undefined> {
  const names = path.split('/')
  if (path.length > LONGEST || !names.every((name) => PLAIN.test(name))) return undefined
  try {
    const real = await realpath(join(root, ...names))
    if (!real.startsWith(root.endsWith(sep) ? root : root + sep)) return undefined
    const found = await stat(real)
    return found.isFile() ? { path: real, size: found.size, modifiedAt: found.mtime } : undefined
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/** The resolved folder; undefined if it does not exist. */
export async function realFolder(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path)
    return (await stat(real)).isDirectory() ? real : undefined
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

const LONGEST = 1000
/** Neither hidden nor a step upwards, and without path separators of any system. */
const PLAIN = /^[^./\\\0:][^/\\\0:]*$/

const ABSENT = new Set<unknown>(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES', 'EINVAL'])

const isAbsence = (error: unknown): boolean => typeof error === 'object' && error !== null && 'code' in error && ABSENT.has(error.code)
