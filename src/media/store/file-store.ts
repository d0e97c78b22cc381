// The store on a file system: one folder per kind, atomic files by rename, no symbolic links in paths.

import { close, constants, fstat, open as openCallback } from 'node:fs'
import { copyFile, link, lstat, mkdir, open, opendir, readdir, rename, rm, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { newUuid } from '../../platform/ids.ts'
import { MediaError, systemCode } from '../errors.ts'
import { openAppender } from './append.ts'
import { readPooled, writePooled } from './buffer-pool.ts'
import { makeSendFile } from './send-file.ts'
import { assertAwaited, assertName, type FileKind, type FileRef, type FileStat, isLocalFile, type Source, type Store } from './store.ts'

/** Files being received are here, on the same file system as their destination, and hidden from `list`. */
const INCOMING = '.incoming'

const [openFd, statFd, closeFd] = [promisify(openCallback), promisify(fstat), promisify(close)]

export interface FileStoreOptions {
  /** One folder per kind; created on first use. */
  directories: Record<FileKind, string>
  /** Work folders of jobs are created under it. */
  tmp: string
  /** Name of this process, part of the names of its temporary files. */
  owner?: string
}

export interface FileStore extends Store {
  /**
   * Removes temporary files of dead writers: at once if `isGone` returns true for the owner, otherwise when they are older than
   * `olderThanMs`. Returns how many.
   */
  sweep(options: { olderThanMs: number; now: Date; isGone?: (owner: string) => boolean }): Promise<number>
}

/** Makes the store of a single machine, or of several that share a file system. */
export function makeFileStore({ directories, tmp, owner = '' }: FileStoreOptions): FileStore {
  const sendFile = makeSendFile()
  const rootOf = (kind: FileKind): string => resolve(directories[kind])

  /** Returns the path of a name and its stat, after checking that no part of it below the root is a symbolic link. */
  async function look(kind: FileKind, segments: readonly string[]) {
    let path = rootOf(kind)
    let found: Awaited<ReturnType<typeof lstatOrNothing>>
    for (const segment of segments) {
      path = join(path, segment)
      found = await lstatOrNothing(path)
      if (found === undefined) break
      if (found.isSymbolicLink()) throw new MediaError('invalid-name', 'Symbolic links are not served.')
    }
    return { path: join(rootOf(kind), ...segments), found }
  }

  async function pathOf({ kind, name }: FileRef): Promise<string> {
    assertName(name)
    return (await look(kind, name.split('/'))).path
  }

  async function stat({ kind, name }: FileRef): Promise<FileStat | undefined> {
    assertName(name)
    const { found } = await look(kind, name.split('/'))
    return found?.isFile() ? toStat(name, found) : undefined
  }

  async function* walk(root: string, folder: string): AsyncGenerator<FileStat> {
    // Read incrementally: a folder may contain millions.
    const entries = await opendir(join(root, folder)).catch((error: unknown) => {
      if (isMissing(error)) return []
      throw error
    })
    for await (const entry of entries) {
      if (entry.name.startsWith('.')) continue
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) yield* walk(root, name)
      else if (entry.isFile()) {
        const found = await lstatOrNothing(join(root, name))
        if (found) yield toStat(name, found)
      }
    }
  }

  async function renameInside(ref: FileRef, to: string): Promise<void> {
    const [source, target] = [await pathOf(ref), await pathOf({ kind: ref.kind, name: to })]
    if (source === target) return
    await mkdir(dirname(target), { recursive: true })
    try {
      await rename(source, target)
    } catch (error) {
      const done = isMissing(error) && (await lstatOrNothing(target)) !== undefined
      if (!done) throw asMediaError(error)
    }
  }

  const store: FileStore = {
    async put(ref, from) {
      const target = await pathOf(ref)
      await mkdir(dirname(target), { recursive: true })
      if (isLocalFile(from) && from.keep !== true && (await giveAway(from.path, target))) {
        return toStat(ref.name, await lstat(target))
      }
      const incoming = join(rootOf(ref.kind), INCOMING)
      await mkdir(incoming, { recursive: true })
      const part = join(incoming, `${encodeURIComponent(owner)}~${newUuid()}`)
      try {
        await receive(from, part)
        await flush(part)
        await rename(part, target)
      } catch (error) {
        await rm(part, { force: true })
        throw asMediaError(error)
      }
      await flushFolder(dirname(target))
      if (isLocalFile(from) && from.keep !== true) await rm(from.path, { force: true })
      return toStat(ref.name, await lstat(target))
    },

    async open(ref, range, signal) {
      assertAwaited(signal)
      assertName(ref.name)
      const segments = ref.name.split('/')
      const path = join((await look(ref.kind, segments.slice(0, -1))).path, segments.at(-1) ?? '')
      // The last part must not be a link either: O_NOFOLLOW. A bare descriptor: streams of a FileHandle take half as much processor time
      // again.
      const fd = await openFd(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
        throw asMediaError(error)
      })
      try {
        const found = await statFd(fd)
        if (!found.isFile()) throw new MediaError('not-found', 'There is no such file.')
        const last = found.size - 1
        const bounds = range ? { start: range.start, end: Math.min(range.end, last) } : { start: 0, end: last }
        // It owns the descriptor, and reads nothing before it is read.
        const stream = readPooled(fd, bounds)
        return {
          stat: toStat(ref.name, found),
          stream,
          sendTo: (target) => sendFile(fd, bounds, target).finally(() => stream.destroy()),
        }
      } catch (error) {
        await closeFd(fd)
        throw error
      }
    },

    stat,

    async remove(ref) {
      await rm(await pathOf(ref), { force: true })
    },

    async removeFolder(ref) {
      await rm(await pathOf(ref), { force: true, recursive: true })
    },

    async *list(kind, folder) {
      if (folder !== undefined) await pathOf({ kind, name: folder })
      yield* walk(rootOf(kind), folder ?? '')
    },

    async copy(ref, to) {
      const [source, target] = [await pathOf(ref), await pathOf(to)]
      await mkdir(dirname(target), { recursive: true })
      try {
        // Stored files are replaced as a whole and never written again, so they may share their bytes.
        await link(source, target)
        await flushFolder(dirname(target))
      } catch (error) {
        const code = systemCode(error)
        if (code === 'EEXIST') return
        if (isMissing(error)) throw asMediaError(error)
        await store.put(to, { path: source, keep: true })
      }
    },

    move: renameInside,
    moveFolder: renameInside,

    async withLocalPath(ref, fn, signal) {
      assertAwaited(signal)
      const path = await pathOf(ref)
      if ((await stat(ref)) === undefined) throw new MediaError('not-found', 'There is no such file.')
      return fn(path)
    },

    async openAppend(name, offset) {
      const path = await pathOf({ kind: 'uploads', name })
      await mkdir(dirname(path), { recursive: true })
      return openAppender(path, offset).catch((error: unknown) => {
        throw asMediaError(error)
      })
    },

    async workFolder(name) {
      assertName(name)
      const path = join(resolve(tmp), ...name.split('/'))
      await mkdir(path, { recursive: true })
      return path
    },

    async removeWorkFolder(name) {
      assertName(name)
      await rm(join(resolve(tmp), ...name.split('/')), { force: true, recursive: true })
    },

    async workFolders() {
      const entries = await readdir(resolve(tmp), { withFileTypes: true }).catch((error: unknown) => {
        if (isMissing(error)) return []
        throw error
      })
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
    },

    async room(kind) {
      const folder = kind === 'tmp' ? resolve(tmp) : rootOf(kind)
      await mkdir(folder, { recursive: true })
      const { bavail, blocks, bsize } = await statfs(folder)
      return { free: bavail * bsize, total: blocks * bsize }
    },

    async sweep({ olderThanMs, now, isGone = () => false }) {
      let removed = 0
      for (const root of new Set(Object.values(directories).map((path) => resolve(path)))) {
        const folder = join(root, INCOMING)
        const names = await readdir(folder).catch(() => [])
        for (const name of names) {
          const found = await lstatOrNothing(join(folder, name))
          if (!found) continue
          const isYoung = now.getTime() - found.mtimeMs < olderThanMs
          if (isYoung && !isGone(decodeURIComponent(name.split('~', 1)[0] ?? ''))) continue
          await rm(join(folder, name), { force: true })
          removed += 1
        }
      }
      return removed
    },

    placeOf: async (ref) => ((await stat(ref)) ? 'file-system' : undefined),
    publicAddress: async () => undefined,
    signedAddress: async () => undefined,
    downloadAddress: async () => undefined,
    only: (place) => (place === 'file-system' ? store : undefined),
  }
  return store
}

/** Renames a local file into its place; false if it is on another file system and must be copied. */
async function giveAway(path: string, target: string): Promise<boolean> {
  try {
    await flush(path)
    await rename(path, target)
  } catch (error) {
    if (systemCode(error) === 'EXDEV') return false
    throw asMediaError(error)
  }
  await flushFolder(dirname(target))
  return true
}

async function receive(from: Source, part: string): Promise<void> {
  // A hard link would let a later writer of the source change the stored file; a copy by reference costs nothing if the file system
  // supports it.
  if (isLocalFile(from)) return copyFile(from.path, part, constants.COPYFILE_FICLONE)
  const stream = from instanceof Uint8Array ? Readable.from([from]) : from
  return pipeline(stream, writePooled(part))
}

async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r+')
  try {
    await handle.datasync()
  } finally {
    await handle.close()
  }
}

/** Makes a rename durable, as far as the file system can flush a folder. */
async function flushFolder(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(() => undefined)
  await handle?.sync().catch(() => undefined)
  await handle?.close()
}

async function lstatOrNothing(path: string) {
  try {
    return await lstat(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw asMediaError(error)
  }
}

function toStat(name: string, found: { size: number; mtime: Date; mtimeMs: number }): FileStat {
  const etag = `"${found.size.toString(16)}-${Math.round(found.mtimeMs * 1000).toString(16)}"`
  return { name, size: found.size, modifiedAt: found.mtime, etag }
}

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')

function asMediaError(error: unknown): unknown {
  const code = systemCode(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return new MediaError('not-found', 'There is no such file.')
  if (code === 'ELOOP') return new MediaError('invalid-name', 'Symbolic links are not served.')
  if (code === 'ENAMETOOLONG') return new MediaError('invalid-name', 'The name of the file is not allowed.')
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new MediaError('disk-full', 'There is no space left on the disk.', { cause: error })
  }
  return error
}
