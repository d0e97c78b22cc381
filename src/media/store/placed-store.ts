// One store of two places: new files go to the preferred place of their kind, and older ones are found in the other. So a server can switch
// without moving its files first, and moves between the places can run while files are read.

import { stat as statFile } from 'node:fs/promises'
import { MediaError, StorageOutage } from '../errors.ts'
import type { FileStore } from './file-store.ts'
import type { ObjectStore } from './s3-store.ts'
import type { FileKind, FileRef, Place, Store } from './store.ts'

export interface PlacedStoreOptions {
  files: FileStore
  objects: ObjectStore
  /** Place of new files of a kind with a bucket. */
  preferred: Place
}

type OnePlace = Omit<Store, 'workFolder' | 'removeWorkFolder' | 'workFolders' | 'only'>

export function makePlacedStore({ files, objects, preferred }: PlacedStoreOptions): FileStore {
  /** The first one is for new files of the kind. */
  function homesOf(kind: FileKind): [OnePlace, ...OnePlace[]] {
    if (!objects.has(kind)) return [files]
    return preferred === 'object-storage' ? [objects, files] : [files, objects]
  }

  /**
   * The first defined result. During an outage of a place, a missing file may be there: then it throws unless the other place has the file.
   */
  async function first<T>(kind: FileKind, ask: (home: OnePlace) => Promise<T | undefined>): Promise<T | undefined> {
    let outage: unknown
    for (const home of homesOf(kind)) {
      try {
        const answer = await ask(home)
        if (answer !== undefined) return answer
      } catch (error) {
        if (!(error instanceof StorageOutage)) throw error
        outage = error
      }
    }
    if (outage) throw outage
    return undefined
  }

  const found = <T>(ref: FileRef, ask: (home: OnePlace) => Promise<T>): Promise<T> =>
    first(ref.kind, (home) => unlessMissing(async () => ({ answer: await ask(home) }))).then((one) => {
      if (!one) throw new MediaError('not-found', 'There is no such file.')
      return one.answer
    })

  /** In both places, so that neither a file that is being moved nor one outside of an outage is skipped. */
  async function everywhere(kind: FileKind, work: (home: OnePlace) => Promise<void>): Promise<void> {
    let done = false
    let outage: unknown
    for (const home of homesOf(kind)) {
      try {
        done = (await unlessMissing(() => work(home).then(() => true))) ?? done
      } catch (error) {
        if (!(error instanceof StorageOutage)) throw error
        outage = error
      }
    }
    if (outage) throw outage
    if (!done) throw new MediaError('not-found', 'There is no such file.')
  }

  const store: FileStore = {
    // A file of the same name in the other place is hidden, and removed with this one.
    put: (ref, from) => homesOf(ref.kind)[0].put(ref, from),

    open: (ref, range, signal) => found(ref, (home) => home.open(ref, range, signal)),
    stat: (ref) => first(ref.kind, (home) => home.stat(ref)),

    async remove(ref) {
      await Promise.all(homesOf(ref.kind).map((home) => home.remove(ref)))
    },

    async removeFolder(ref) {
      await Promise.all(homesOf(ref.kind).map((home) => home.removeFolder(ref)))
    },

    async *list(kind, folder) {
      const seen = new Set<string>()
      for (const home of homesOf(kind)) {
        for await (const file of home.list(kind, folder)) {
          if (!seen.has(file.name)) yield file
          seen.add(file.name)
        }
      }
    },

    async copy(ref, to) {
      const source = (await store.placeOf(ref)) === 'object-storage' ? objects : files
      const [target] = homesOf(to.kind)
      if (source === target) await source.copy(ref, to)
      else await source.withLocalPath(ref, async (path) => void (await target.put(to, { path, keep: true })))
    },

    move: (ref, to) => everywhere(ref.kind, (home) => home.move(ref, to)),
    moveFolder: (ref, to) => everywhere(ref.kind, (home) => home.moveFolder(ref, to)),

    async withLocalPath(ref, fn, signal) {
      const place = await store.placeOf(ref)
      return await (place === 'object-storage' ? objects : files).withLocalPath(ref, fn, signal)
    },

    async openAppend(name, offset) {
      const [home, ...others] = homesOf('uploads')
      const isElsewhere = async (other: OnePlace): Promise<boolean> => {
        const size = async (at: OnePlace) => (await at.stat({ kind: 'uploads', name }))?.size ?? 0
        return (await size(other)) >= offset && (await size(home)) < offset
      }
      // Begun before the switch.
      if (offset > 0) for (const other of others) if (await isElsewhere(other)) return await other.openAppend(name, offset)
      return await home.openAppend(name, offset)
    },

    workFolder: files.workFolder,
    removeWorkFolder: files.removeWorkFolder,
    workFolders: files.workFolders,
    room: (kind) => homesOf(kind)[0].room(kind),

    placeOf: (ref) => first(ref.kind, (home) => home.placeOf(ref)),
    publicAddress: (ref) => addressed(ref, (home) => home.publicAddress(ref)),
    signedAddress: (ref) => addressed(ref, (home) => home.signedAddress(ref)),
    downloadAddress: (ref, saved) => addressed(ref, (home) => home.downloadAddress(ref, saved)),

    only(place, kind) {
      if (place === 'file-system') return files
      if (!objects.has(kind)) return undefined
      const { workFolder, removeWorkFolder, workFolders } = files
      return { ...objects, workFolder, removeWorkFolder, workFolders, only: store.only }
    },

    async sweep(options) {
      const { olderThanMs, now, isGone = () => false } = options
      const isLeft = async (path: string, owner: string): Promise<boolean> => {
        const entry = await statFile(path).catch(() => undefined)
        return isGone(owner) || (entry !== undefined && now.getTime() - entry.mtimeMs >= olderThanMs)
      }
      return (await files.sweep(options)) + (await objects.sweep(isLeft))
    },
  }
  return store

  /** Asks the place that has the file, as one on disk has no address. */
  async function addressed(ref: FileRef, ask: (home: OnePlace) => Promise<string | undefined>) {
    if (!objects.has(ref.kind)) return undefined
    if (preferred === 'file-system' && (await files.stat(ref))) return undefined
    try {
      return await ask(objects)
    } catch (error) {
      if (error instanceof StorageOutage && (await files.stat(ref))) return undefined
      throw error
    }
  }
}

async function unlessMissing<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof MediaError && error.reason === 'not-found') return undefined
    throw error
  }
}
