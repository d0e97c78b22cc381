// The store on S3-compatible object storage: a bucket and a prefix for each kind, folders as prefixes. Work folders stay local.

import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { MediaError, systemCode } from '../errors.ts'
import { isPublicFile, type ObjectSettings, objectAddress } from './object-settings.ts'
import { asStoreError } from './s3-client.ts'
import type { CopySizes } from './s3-copy.ts'
import { makeS3Objects } from './s3-objects.ts'
import type { Patience } from './s3-silence.ts'
import { makeS3Uploads, uploadOfPiece } from './s3-uploads.ts'
import { assertAwaited, assertName, type FileKind, type FileRef, type FileStat, type Store } from './store.ts'

/** The store of bytes in buckets; it has no work folders of its own. */
export type ObjectStore = Omit<Store, 'workFolder' | 'removeWorkFolder' | 'workFolders' | 'only'> & {
  /** True if the kind has a bucket. */
  has(kind: FileKind): boolean
  /** Removes abandoned downloads, identified by their paths and owners. Returns how many. */
  sweep(isLeft: (path: string, owner: string) => Promise<boolean>): Promise<number>
  /** Problems of the buckets, one line each; empty if all are usable. */
  complaints(): Promise<string[]>
  /** Closes its connections. */
  close(): Promise<void>
}

/** Concurrent deletions when a folder is removed. */
const AT_ONCE = 8
const DOWNLOADS = 'downloads'

export interface S3StoreOptions {
  settings: ObjectSettings
  /** A local folder for downloads that local tools need. */
  tmp: string
  /** Name of this process, part of the names of its downloads. */
  owner?: string
  /** Part sizes of copies; S3's by default. */
  copySizes?: CopySizes
  /** Timeouts of responses. */
  patience?: Patience
}

export function makeS3Store({ settings, tmp, owner = '', ...sizes }: S3StoreOptions): ObjectStore {
  const objects = makeS3Objects(settings, sizes)
  const uploads = makeS3Uploads(objects)

  const named = (ref: FileRef): FileRef => {
    assertName(ref.name)
    return ref
  }
  /** Uploads consist of pieces, except pictures and other files that were stored whole. */
  const pieced = (ref: FileRef): boolean => ref.kind === 'uploads'

  async function stat(ref: FileRef): Promise<FileStat | undefined> {
    const found = await objects.head(named(ref))
    return found ?? (pieced(ref) ? await uploads.stat(ref.name) : undefined)
  }

  async function open(ref: FileRef, range?: { start: number; end: number }, signal?: AbortSignal) {
    try {
      return await objects.get(named(ref), range, signal)
    } catch (error) {
      assertAwaited(signal)
      if (!pieced(ref) || !isNotFound(error)) throw error
      return await uploads.open(ref.name, range)
    }
  }

  async function* list(kind: FileKind, folder?: string): AsyncGenerator<FileStat> {
    if (folder !== undefined) assertName(folder)
    const seen = new Set<string>()
    for await (const found of objects.list(kind, folder === undefined ? '' : `${folder}/`)) {
      const upload = kind === 'uploads' ? uploadOfPiece(found.name) : undefined
      if (upload === undefined) yield found
      else if (!seen.has(upload)) {
        seen.add(upload)
        const whole = await uploads.stat(upload)
        if (whole) yield whole
      }
    }
  }

  async function move(ref: FileRef, to: string): Promise<void> {
    named(ref)
    assertName(to)
    if (ref.name === to) return
    try {
      await objects.copy(ref, { kind: ref.kind, name: to })
    } catch (error) {
      // Moved before.
      if (isNotFound(error) && (await objects.head({ kind: ref.kind, name: to }))) return
      throw error
    }
    await objects.remove(ref)
  }

  return {
    has: (kind) => settings.buckets[kind] !== undefined,

    async complaints() {
      const kinds = Object.keys(settings.buckets) as FileKind[]
      const lines = await Promise.all(kinds.map((kind) => objects.complaint(kind)))
      return [...new Set(lines.filter((line) => line !== undefined))]
    },

    async put(ref, from) {
      await objects.put(named(ref), from)
      const found = await objects.head(ref)
      if (!found) throw new MediaError('not-found', 'The file went while it was stored.')
      return found
    },

    open,
    stat,
    list,
    move,
    copy: (ref, to) => objects.copy(named(ref), named(to)),
    close: objects.close,

    async remove(ref) {
      await objects.remove(named(ref))
      if (pieced(ref)) await uploads.remove(ref.name)
    },

    async removeFolder({ kind, name }) {
      assertName(name)
      const names: string[] = []
      for await (const found of objects.list(kind, `${name}/`)) names.push(found.name)
      await eachOf(names, (one) => objects.remove({ kind, name: one }))
    },

    async moveFolder({ kind, name }, to) {
      assertName(name)
      assertName(to)
      const names: string[] = []
      for await (const found of objects.list(kind, `${name}/`)) names.push(found.name)
      if (names.length === 0 && !(await hasAny(kind, to))) throw missing()
      await eachOf(names, (one) => move({ kind, name: one }, `${to}${one.slice(name.length)}`))
    },

    async withLocalPath(ref, fn, signal) {
      assertAwaited(signal)
      const { stream } = await open(ref, undefined, signal)
      const downloads = join(resolve(tmp), DOWNLOADS)
      await mkdir(downloads, { recursive: true })
      const folder = await mkdtemp(join(downloads, `${encodeURIComponent(owner)}~`))
      try {
        // Tools read the extension.
        const path = join(folder, `file${extname(ref.name)}`)
        await pipeline(stream, createWriteStream(path, { flags: 'wx' }), { signal }).catch((error: unknown) => {
          assertAwaited(signal)
          throw asStoreError(asDiskError(error))
        })
        return await fn(path)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },

    async openAppend(name, offset) {
      assertName(name)
      return await uploads.openAppend(name, offset)
    },

    room: async () => undefined,

    placeOf: async (ref) => ((await stat(ref)) ? 'object-storage' : undefined),

    async publicAddress(ref) {
      const address = objectAddress(settings, named(ref))
      return address && (await objects.head(ref)) ? address : undefined
    },

    async signedAddress(ref) {
      const isOpen = isPublicFile(named(ref)) && settings.openBuckets
      return !isOpen && (await objects.head(ref)) ? await objects.sign(ref) : undefined
    },

    async downloadAddress(ref, saved) {
      const address = objectAddress(settings, named(ref))
      // Readers may have no access to the bucket itself then.
      const isElsewhere = address !== undefined && settings.buckets[ref.kind]?.baseUrl !== ''
      return !isElsewhere && (await objects.head(ref)) ? await objects.sign(ref, saved) : undefined
    },

    async sweep(isLeft) {
      const folder = join(resolve(tmp), DOWNLOADS)
      let removed = 0
      for (const name of await readdir(folder).catch(() => [])) {
        if (!(await isLeft(join(folder, name), ownerOf(name)))) continue
        await rm(join(folder, name), { recursive: true, force: true })
        removed += 1
      }
      return removed
    },
  }

  async function hasAny(kind: FileKind, folder: string): Promise<boolean> {
    for await (const _found of objects.list(kind, `${folder}/`)) return true
    return false
  }
}

async function eachOf(names: readonly string[], work: (name: string) => Promise<void>): Promise<void> {
  for (let at = 0; at < names.length; at += AT_ONCE) await Promise.all(names.slice(at, at + AT_ONCE).map(work))
}

const ownerOf = (name: string): string => decodeURIComponent(name.split('~', 1)[0] ?? '')

const missing = (): MediaError => new MediaError('not-found', 'There is no such file.')

const isNotFound = (error: unknown): boolean => error instanceof MediaError && error.reason === 'not-found'

function asDiskError(error: unknown): unknown {
  const code = systemCode(error)
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error
  return new MediaError('disk-full', 'There is no space left on the disk.', { cause: error })
}
