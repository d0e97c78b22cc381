// Packages of plugins: gzipped tars (the format of npm), read with bounds. Nothing in them is ever run here, neither scripts nor code.

import { createReadStream } from 'node:fs'
import { lstat, mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { Headers, Pack } from 'tar-stream'
import { DomainError } from '../runtime/index.ts'
import { type Manifest, readManifest } from './manifest.ts'

export const packageLimits = {
  /** Bytes of the gzipped tar. */
  packed: 8 * 1024 * 1024,
  /** Bytes of all files. */
  unpacked: 64 * 1024 * 1024,
  files: 5000,
  /** Characters of a path. */
  path: 300,
}

const LARGEST_MANIFEST = 256 * 1024

export interface Package {
  archive: Buffer
  /** Subresource Integrity, `sha512-…`, as npm's registry states it. */
  integrity: string
  manifest: Manifest
}

/** Checks a whole package: its bounds, its manifest, and that its dependencies are bundled. Throws `unprocessable` and `too_large`. */
export async function readPackage(archive: Buffer): Promise<Package> {
  let document: string | undefined
  const bundled = new Set<string>()
  await eachFile(archive, async (path, content, size) => {
    if (path === 'package.json' && size <= LARGEST_MANIFEST) document = (await buffer(content)).toString('utf8')
    else content.resume()
    const [, dependency] = /^node_modules\/((?:@[^/]+\/)?[^/]+)\/package\.json$/.exec(path) ?? []
    if (dependency !== undefined) bundled.add(dependency)
  })
  if (document === undefined) throw new DomainError('unprocessable', 'The package has no package.json of at most 256 KiB.')
  const { manifest, dependencies } = readManifest(document)
  const missing = dependencies.filter((name) => !bundled.has(name))
  if (missing.length > 0) {
    throw new DomainError('unprocessable', `The package does not bundle its dependencies (bundleDependencies): ${missing.join(', ')}.`)
  }
  return { archive, integrity: await integrityOf(archive), manifest }
}

/** Writes the files of a package below an existing folder. Throws like `readPackage`. */
export const unpack = (archive: Buffer, folder: string): Promise<void> =>
  eachFile(archive, async (path, content) => {
    const target = join(folder, ...path.split('/'))
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, content, { flag: 'wx', mode: 0o644 })
  })

/** Packs a folder of this machine as `npm pack` does, with its node_modules. Links and hidden files stay out. Throws `too_large`. */
export async function packFolder(folder: string): Promise<Buffer> {
  const { pack: begin } = await import('tar-stream')
  const pack = begin()
  const packed = buffer(pipelineOf(pack))
  // Its error ends the packing, which throws the first one.
  packed.catch(() => undefined)
  let [files, bytes] = [0, 0]
  async function add(from: string): Promise<void> {
    for (const entry of (await readdir(from, { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(from, entry.name)
      if (entry.name.startsWith('.')) continue
      if (entry.isDirectory()) await add(path)
      if (!entry.isFile()) continue
      const { size } = await lstat(path)
      files += 1
      bytes += size
      if (files > packageLimits.files || bytes > packageLimits.unpacked) throw tooLarge()
      const name = `package/${relative(folder, path).replaceAll(sep, '/')}`
      // Without times, so that the same files make the same package.
      await pipeline(createReadStream(path), pack.entry({ name, size, mtime: new Date(0), mode: 0o644 }))
    }
  }
  try {
    await add(folder)
    pack.finalize()
  } catch (error) {
    pack.destroy(error instanceof Error ? error : new Error(String(error)))
    throw error
  }
  return await packed
}

function pipelineOf(pack: Pack): Readable {
  const gzip = createGzip()
  pack.on('error', (error) => gzip.destroy(error))
  return Readable.from(pack).pipe(gzip)
}

/** On another thread: hashing some megabytes would hold the event loop. */
export const integrityOf = async (archive: Buffer): Promise<string> =>
  `sha512-${Buffer.from(await crypto.subtle.digest('SHA-512', new Uint8Array(archive))).toString('base64')}`

/** Throws `unprocessable` if the bytes are not those that the registry has announced. */
export async function verifyIntegrity(archive: Buffer, wanted: string): Promise<void> {
  if ((await integrityOf(archive)) !== wanted) throw new DomainError('unprocessable', 'The package does not have the announced hash.')
}

/** Calls `take` for each plain file with its path below the first folder. `take` must consume the content. */
async function eachFile(archive: Buffer, take: (path: string, content: Readable, size: number) => Promise<void>): Promise<void> {
  if (archive.length > packageLimits.packed) throw tooLarge()
  const { extract: begin } = await import('tar-stream')
  const extract = begin()
  let [files, bytes] = [0, 0]
  const taken = (async () => {
    for await (const entry of extract) {
      const { type, size = 0 } = entry.header
      if (type === 'directory') {
        entry.resume()
        continue
      }
      if (type !== 'file' && type !== 'contiguous-file') throw new DomainError('unprocessable', 'The package has links or devices in it.')
      files += 1
      bytes += size
      if (files > packageLimits.files || bytes > packageLimits.unpacked) throw tooLarge()
      await take(insidePath(entry.header), Readable.from(entry), size)
    }
  })()
  const read = pipeline(Readable.from(slices(archive)), createGunzip(), bounded, extract)
  try {
    await Promise.all([taken, read])
  } catch (cause) {
    extract.destroy()
    await Promise.allSettled([taken, read])
    if (cause instanceof DomainError) throw cause
    throw new DomainError('unprocessable', 'The package is no gzipped tar that can be unpacked.', { cause })
  }
}

/** A tar says how large its files are, but not how much lies between them. */
async function* bounded(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const piece of source) {
    bytes += piece.length
    if (bytes > 2 * packageLimits.unpacked) throw tooLarge()
    yield piece
  }
}

const SLICE = 64 * 1024
function* slices(archive: Buffer): Generator<Buffer> {
  for (let at = 0; at < archive.length; at += SLICE) yield archive.subarray(at, at + SLICE)
}

/** Throws `unprocessable` for a path that leaves the package, or that not every file system can store. */
function insidePath({ name }: Headers): string {
  const [, ...names] = name.split('/')
  const isPlain = names.length > 0 && names.every((one) => one !== '' && one !== '.' && one !== '..' && !/[\\:\0]/.test(one))
  if (!isPlain || name.startsWith('/') || name.length > packageLimits.path) {
    throw new DomainError('unprocessable', 'The package has a file with a dangerous path.')
  }
  return names.join('/')
}

const tooLarge = (): DomainError =>
  new DomainError('too_large', 'The package is too large: 8 MiB packed, 64 MiB and 5000 files unpacked are allowed.')
