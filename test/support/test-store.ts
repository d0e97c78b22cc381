// The store of media tests: folders or, with VIREO_TEST_STORE=object-storage, buckets of an S3 server in this process. Names of files have
// the form `kind/name`.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { objectSettings } from '../../src/connections.ts'
import {
  type FileKind,
  type FileRef,
  type FileStore,
  fileKinds,
  makeFileStore,
  makePlacedStore,
  makeS3Store,
  type ObjectStore,
} from '../../src/media/index.ts'
import { uploadOfPiece } from '../../src/media/store/s3-uploads.ts'
import { testConfig } from './config.ts'
import { listFiles } from './list-files.ts'
import { everythingIn, startS3, type TestS3 } from './s3.ts'

export const inObjectStorage = process.env.VIREO_TEST_STORE === 'object-storage'

export interface TestStore {
  /** Undefined on the file system. */
  s3: TestS3 | undefined
  /** The store as a process opens it. */
  open(): FileStore
  /** Every file, including hidden ones and those of work folders. */
  all(): Promise<string[]>
  read(name: string): Promise<Buffer>
  write(name: string, bytes: Buffer | string): Promise<void>
  remove(name: string): Promise<void>
  /** A local path for programs, with the other files of its folder beside it. */
  local(name: string): Promise<string>
  clear(): Promise<void>
  /** Stops the S3 server; the owner of the folder removes it. */
  close(): Promise<void>
}

export async function makeTestStore(folder: string): Promise<TestStore> {
  const directories = Object.fromEntries(fileKinds.map((kind) => [kind, join(folder, kind)])) as Record<FileKind, string>
  const tmp = join(folder, 'tmp')
  const s3 = inObjectStorage ? await startS3() : undefined
  const settings = s3 && objectSettings(testConfig(everythingIn(s3.endpoint)))
  const makeObjects = () => settings && makeS3Store({ settings, tmp })
  const clients: ObjectStore[] = []

  const store: TestStore = {
    s3,
    open() {
      const files = makeFileStore({ directories, tmp })
      const objects = makeObjects()
      if (!objects) return files
      clients.push(objects)
      return makePlacedStore({ files, objects, preferred: 'object-storage' })
    },

    async all() {
      const local = await listFiles(folder)
      const remote = await Promise.all(
        Object.entries(settings?.buckets ?? {}).map(async ([kind, { name: bucket, prefix }]) => {
          const keys = (await s3?.keys(bucket)) ?? []
          return keys
            .filter((key) => key.startsWith(prefix))
            .map((key) => key.slice(prefix.length))
            .map((name) => `${kind}/${kind === 'uploads' ? (uploadOfPiece(name) ?? name) : name}`)
        }),
      )
      return [...new Set([...local, ...remote.flat()])].sort()
    },

    async read(name) {
      if (!s3) return await readFile(join(folder, name))
      return await buffer((await client().open(refOf(name))).stream)
    },

    async write(name, bytes) {
      if (s3 && !name.startsWith('tmp/')) {
        await client().remove(refOf(name))
        await client().put(refOf(name), Buffer.from(bytes))
      } else {
        await writeFile(join(folder, name), bytes)
      }
    },

    async remove(name) {
      if (s3 && !name.startsWith('tmp/')) await client().remove(refOf(name))
      else await rm(join(folder, name), { force: true })
    },

    async local(name) {
      if (!s3) return join(folder, name)
      const copy = await mkdtemp(`${folder}-local-`)
      copies.push(copy)
      const beside = (await store.all()).filter((one) => dirname(one) === dirname(name))
      await mkdir(dirname(join(copy, name)), { recursive: true })
      // Files that vanish meanwhile are ignored.
      for (const one of beside) {
        const bytes = await store.read(one).catch(() => undefined)
        if (bytes) await writeFile(join(copy, one), bytes)
      }
      return join(copy, name)
    },

    async clear() {
      for (const name of await store.all()) await store.remove(name)
    },

    async close() {
      for (const copy of copies) await rm(copy, { recursive: true, force: true })
      for (const one of clients) await one.close()
      await s3?.stop()
    },
  }
  const copies: string[] = []
  let opened: FileStore | undefined
  const client = (): FileStore => {
    opened ??= store.open()
    return opened
  }
  return store
}

function refOf(name: string): FileRef {
  const [first, ...rest] = name.split('/')
  const kind = fileKinds.find((one) => one === first)
  if (!kind) throw new Error(`${name} is in no folder of the store.`)
  return { kind, name: rest.join('/') }
}
