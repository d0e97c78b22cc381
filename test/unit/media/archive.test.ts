// Archives of users: honest ones, and each kind of a hostile one with its reason.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { deflateRawSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import yazl from 'yazl'
import { archiveLimits } from '../../../src/media/archive/limits.ts'
import { type Archive, openArchive, readList } from '../../../src/media/index.ts'
import type { ByteRange, FileRef, OpenedFile } from '../../../src/media/store/store.ts'
import { fields, makeZip, type ZipFile, zip64End } from '../../support/zip.ts'

const PEERTUBE = new URL('../../fixtures/peertube-export.zip', import.meta.url)
const ref: FileRef = { kind: 'uploads', name: 'archive' }

/** A store with one file, and the ranges that were read. */
function storeOf(bytes: Buffer) {
  const reads: ByteRange[] = []
  const open = async (_ref: FileRef, range?: ByteRange): Promise<OpenedFile> => {
    if (!range) throw new Error('Nobody reads an archive as a whole.')
    reads.push(range)
    const part = bytes.subarray(range.start, range.end + 1)
    const stat = { name: ref.name, size: bytes.length, modifiedAt: new Date(0), etag: '"1"' }
    // In chunks, like a disk.
    const pieces = Array.from({ length: Math.ceil(part.length / 1000) }, (_, i) => part.subarray(i * 1000, (i + 1) * 1000))
    return { stat, stream: Readable.from(pieces, { objectMode: false }) }
  }
  return { open, reads }
}

const opened = (bytes: Buffer, limits: Partial<typeof archiveLimits> = {}): Promise<Archive> =>
  openArchive({ store: storeOf(bytes), ref, size: bytes.length, limits })

const bytesOf = async (archive: Archive, path: string): Promise<Buffer> => {
  const file = archive.file(path)
  if (!file) throw new Error(`There is no ${path}.`)
  return await buffer(await file.open())
}

/** The items of a list in an archive, or the error. Undefined without such a list. */
async function itemsOf(data: string | Buffer, name = 'likes', limits: Partial<typeof archiveLimits> = {}): Promise<unknown[] | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-list-'))
  try {
    await writeFile(join(folder, 'a.json'), data)
    const list = await readList(join(folder, 'a.json'), name, { ...archiveLimits, ...limits })
    if (!list) return undefined
    const items: unknown[] = []
    for (let index = 0; index < list.length; index += 1)
      items.push(await list.item(index).catch(({ fault }: { fault: unknown }) => ({ fault })))
    await list.close()
    return items
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const likes = { name: 'peertube/likes.json', data: '{"likes":[]}' }
const long = Buffer.from('abcdefgh'.repeat(5000))

describe('an honest archive', () => {
  it('may have names of 255 bytes', async () => {
    const name = `files/${'é'.repeat(127)}a`
    const archive = await opened(
      makeZip([
        { name: 'files/', mode: 0o040755 },
        { name, data: 'x' },
      ]),
    )
    expect((await bytesOf(archive, name)).toString()).toBe('x')
  })

  it('is read by ranges: files and documents, stored or deflated', async () => {
    const archive = await opened(
      makeZip([
        { name: 'peertube/', mode: 0o040755 },
        { ...likes, method: 8, mode: 0o100644 },
        { name: 'files/a.bin', data: long },
        { name: 'files/é.bin', data: long, method: 8 },
        { name: 'files/empty', data: '' },
      ]),
    )
    expect(await archive.document('peertube/likes.json')).toEqual({ likes: [] })
    expect(archive.file('files/a.bin')?.size).toBe(long.length)
    expect((await bytesOf(archive, 'files/a.bin')).equals(long)).toBe(true)
    expect((await bytesOf(archive, 'files/é.bin')).equals(long)).toBe(true)
    expect(await bytesOf(archive, 'files/empty')).toHaveLength(0)
    expect(archive.file('files/none')).toBeUndefined()
    expect(archive.file('peertube/')).toBeUndefined()
    expect(await archive.document('peertube/none.json')).toBeUndefined()
    archive.close()
  })

  it('is read item by item in its lists', async () => {
    const items = [{ a: '],[{"\\' }, [[], [{}]], 'é "likes":[', null, 1.5, {}, [], '']
    const texts = [
      JSON.stringify({ likes: items }),
      JSON.stringify({ other: { likes: [1] }, 'a"]': '"likes":[', likes: items, last: [[1], 2] }, null, 2),
      JSON.stringify({ likes: 1 }).replace('1', `[0], "likes" : ${JSON.stringify(items, null, '\t')}`),
    ]
    for (const data of texts) expect(await itemsOf(data)).toEqual(items)
    for (const data of ['{"likes":[]}', '{"likes" : [\n ] }']) expect(await itemsOf(data)).toEqual([])
    expect(await itemsOf('{"likes":[ 7 ]}')).toEqual([7])
    for (const data of ['{"likes":{}}', '["likes",[1]]', '[1]', '1', 'null', '{"dislikes":[1]}', '{"a":{"likes":[1]}}'])
      expect(await itemsOf(data)).toBeUndefined()
  })

  it('may have lists longer than a chunk, cut anywhere', async () => {
    const items = Array.from({ length: 3000 }, (_, at) => ({ at, text: '"é],'.repeat(at % 70) }))
    for (const beside of [0, 1, 2, 3, 250_000, 262_130, 262_138, 262_144]) {
      const data = JSON.stringify({ a: 'b'.repeat(beside), likes: items, last: ['likes'] })
      expect(await itemsOf(data)).toEqual(items)
    }
  })

  it('may come from another server', async () => {
    const archive = await opened(await readFile(PEERTUBE))
    expect(await archive.document('peertube/account.json')).toHaveProperty('displayName')
    const videos = JSON.parse((await bytesOf(archive, 'peertube/videos.json')).toString()).videos
    expect(await itemsOf(await bytesOf(archive, 'peertube/videos.json'), 'videos')).toEqual(videos)
    archive.close()
  })

  it('may be ZIP64, or written as a stream', async () => {
    const zip = new yazl.ZipFile()
    zip.addBuffer(long, 'files/a.bin', { forceZip64Format: true })
    zip.addReadStream(Readable.from([long]), 'files/b.bin')
    zip.end({ forceZip64Format: true, comment: '' })
    const archive = await opened(await buffer(zip.outputStream))
    expect((await bytesOf(archive, 'files/a.bin')).equals(long)).toBe(true)
    expect((await bytesOf(archive, 'files/b.bin')).equals(long)).toBe(true)
    archive.close()
  })

  it('is listed with few reads, for any number of files', async () => {
    const files: ZipFile[] = Array.from({ length: 20_000 }, (_, i) => ({ name: `files/${i}`, data: 'x' }))
    const bytes = makeZipOf(files)
    const store = storeOf(bytes)
    const archive = await openArchive({ store, ref, size: bytes.length })
    expect(store.reads.length).toBeLessThan(6)
    expect(await text((await archive.file('files/19999')?.open()) ?? Readable.from([]))).toBe('x')
    expect(store.reads.length).toBeLessThan(9)
    archive.close()
  })

  it('is not read further once the reader stops', async () => {
    const archive = await opened(makeZip([{ name: 'a', data: long, method: 8 }]))
    const stream = await archive.file('a')?.open()
    for await (const chunk of stream ?? []) {
      expect(chunk.length).toBeGreaterThan(0)
      break
    }
    expect(stream?.destroyed).toBe(true)
    archive.close()
  })
})

/** `makeZip` with the given parts. */
function makeZipOf(files: readonly ZipFile[]): Buffer {
  let at = 0
  const singles = files.map((file) => {
    const alone = makeZip([file])
    const own = alone.subarray(0, alone.readUInt32LE(alone.length - 6))
    const offset = at
    at += own.length
    return { own, file: { ...file, offset, listedOnly: true } }
  })
  const listed = singles.map(({ file }) => {
    const alone = makeZip([file])
    return alone.subarray(0, alone.length - 22)
  })
  const list = Buffer.concat(listed)
  const end = fields([0x06054b50, 4], [0, 2], [0, 2], [files.length, 2], [files.length, 2], [list.length, 4], [at, 4], [0, 2])
  return Buffer.concat([...singles.map(({ own }) => own), list, end])
}

const NOTHING = Buffer.alloc(0)
const plain = makeZip([likes, { name: 'files/a', data: long }])

const refused: [about: string, fault: string, bytes: Buffer, limits?: Partial<typeof archiveLimits>][] = [
  ['an empty file', 'not-an-archive', NOTHING],
  ['an archive without files', 'not-an-archive', makeZip([])],
  ['a text', 'not-an-archive', Buffer.from('this is no archive '.repeat(100))],
  ['an archive without its end', 'not-an-archive', plain.subarray(0, -30)],
  ['an archive without its beginning', 'damaged', plain.subarray(1000)],
  ['junk before the first file', 'not-an-archive', makeZip([likes], { before: Buffer.from('#!/bin/sh\n') })],
  ['junk before it that nobody counted', 'damaged', Buffer.concat([Buffer.from('#!/bin/sh\n'), plain])],
  ['junk behind the end', 'damaged', Buffer.concat([plain, Buffer.from('more')])],
  ['a name that leads up', 'unsafe', makeZip([{ ...likes, name: '../likes.json' }])],
  ['a name that leads up later', 'unsafe', makeZip([{ ...likes, name: 'files/../../etc/passwd' }])],
  ['an absolute name', 'unsafe', makeZip([{ ...likes, name: '/etc/passwd' }])],
  ['a drive letter', 'unsafe', makeZip([{ ...likes, name: 'C:/windows' }])],
  ['a backslash', 'unsafe', makeZip([{ ...likes, name: '..\\windows' }])],
  ['a NUL in a name', 'unsafe', makeZip([{ ...likes, name: 'files/a\0.json' }])],
  ['a line break in a name', 'unsafe', makeZip([{ ...likes, name: 'files/a\n.json' }])],
  ['an empty name', 'unsafe', makeZip([{ ...likes, name: '' }])],
  ['an empty part of a name', 'unsafe', makeZip([{ ...likes, name: 'files//a' }])],
  ['a name that is far too long', 'unsafe', makeZip([{ ...likes, name: `files/${'a'.repeat(2000)}` }])],
  ['a name hidden in a further field', 'unsafe', makeZip([{ ...likes, name: 'a', extra: unicodePath('a', '../b') }])],
  ['a dot as a part of a name', 'unsafe', makeZip([{ ...likes, name: 'files/./a' }])],
  ['a drive letter later', 'unsafe', makeZip([{ ...likes, name: 'files/C:/a' }])],
  ['a DEL in a name', 'unsafe', makeZip([{ ...likes, name: 'files/a\x7f.json' }])],
  ['a C1 control in a name', 'unsafe', makeZip([{ ...likes, name: 'files/a\u0085.json' }])],
  ['a name that is no UTF-8', 'unsafe', makeZip([{ ...likes, name: Buffer.from('files/\xff', 'latin1') }])],
  ['a name of 256 bytes', 'unsafe', makeZip([{ ...likes, name: `files/${'é'.repeat(128)}` }])],
  ['a folder of 256 bytes', 'unsafe', makeZip([{ ...likes, name: `${'a'.repeat(256)}/a` }])],
  ['a symbolic link', 'unsafe', makeZip([{ name: 'files/a', data: '/etc/passwd', mode: 0o120777 }])],
  ['a device', 'unsafe', makeZip([{ name: 'files/a', mode: 0o020666 }])],
  ['a folder that is called a file', 'unsafe', makeZip([{ name: 'files/a', mode: 0o040755 }])],
  ['an encrypted file', 'unsupported', makeZip([{ ...likes, flags: 1, packed: Buffer.alloc(24), packedSize: 24 }])],
  ['strong encryption', 'unsupported', makeZip([{ ...likes, flags: 0x41 }])],
  ['an unknown compression', 'unsupported', makeZip([{ ...likes, method: 14 }])],
  ['two files of one name', 'unsafe', makeZip([likes, likes])],
  ['two names in other letters', 'unsafe', makeZip([{ name: 'files/A' }, { name: 'files/a' }])],
  ['two names composed in other ways', 'unsafe', makeZip([{ name: 'files/\u00e9' }, { name: 'files/e\u0301' }])],
  ['a file with files in it', 'unsafe', makeZip([{ name: 'files/a', data: 'x' }, { name: 'files/a/b/c' }])],
  ['a file with files in it, listed later', 'unsafe', makeZip([{ name: 'files/a/b' }, { name: 'files/a', data: 'x' }])],
  ['a file that is a folder, too', 'unsafe', makeZip([{ name: 'a', data: 'x' }, { name: 'a/' }])],
  [
    'a file with files in it, others listed between them',
    'unsafe',
    makeZip([{ name: 'a', data: 'x' }, { name: 'a b' }, { name: 'a-b/c' }, { name: 'a/b' }]),
  ],
  ['a path that is too deep', 'unsafe', makeZip([{ ...likes, name: `${'a/'.repeat(32)}a` }])],
  ['a folder with bytes', 'damaged', makeZip([{ name: 'a/', data: 'x' }])],
  ['a stored file of two sizes', 'damaged', makeZip([{ ...likes, size: 5 }])],
  ['one body under many names', 'unsafe', makeZip([likes, { name: 'b', data: likes.data, offset: 0, listedOnly: true }])],
  ['files inside each other', 'unsafe', quoted()],
  ['a file that reaches into the list', 'damaged', makeZip([{ ...likes, packedSize: 100, size: 100 }])],
  ['a header beyond the end', 'not-an-archive', makeZip([{ ...likes, offset: 1_000_000 }])],
  ['more files than there are', 'damaged', makeZip([likes], { count: 60_000 })],
  ['a list that is elsewhere', 'damaged', makeZip([likes], { listOffset: 5 })],
  ['a list beyond the end', 'damaged', makeZip([likes], { listOffset: 1_000_000 })],
  ['too many files', 'too-large', makeZip([likes, { name: 'a' }, { name: 'b' }]), { entries: 2 }],
  ['a list that is too long', 'too-large', makeZip([likes]), { directory: 20 }],
  ['a file that is too large', 'too-large', makeZip([{ name: 'a', data: long }]), { entry: 1000 }],
  ['too much together', 'too-large', makeZip([{ name: 'a', data: long }, likes]), { total: 1000 }],
  ['a bomb', 'unsafe', bomb(), { ratioFrom: 2 ** 20 }],
  ['a bomb in pieces', 'unsafe', makeZip([piece('a'), piece('b'), piece('c')]), { ratioFrom: 2 ** 20, ratio: 1000 }],
  ['a size of 64 bits that is not so', 'unsafe', huge(), { entry: 2 ** 62, total: 2 ** 62 }],
  ['a count of 64 bits that is not so', 'too-large', zip64({ count: 2 ** 40 })],
  ['an offset of 64 bits beyond the end', 'damaged', zip64({ at: 2 ** 40 })],
  ['further fields that are cut off', 'damaged', makeZip([{ ...likes, extra: fields([1, 2], [50, 2]) }])],
]

const refusals = refused.map(([about, fault, bytes, limits]) => ({ about, fault, bytes, limits }))

describe('refuses', () => {
  for (const { about, fault, bytes, limits } of refusals) {
    it(about, async () => {
      await expect(opened(bytes, limits)).rejects.toMatchObject({ name: 'ArchiveError', fault })
    })
  }
})

describe('while it is read, refuses', () => {
  const files: [about: string, file: ZipFile][] = [
    ['a wrong checksum', { name: 'a', data: long, crc: 1 }],
    ['a wrong checksum of a deflated file', { name: 'a', data: long, method: 8, crc: 1 }],
    ['more bytes than declared', { name: 'a', data: long, method: 8, size: 100 }],
    ['fewer bytes than declared', { name: 'a', data: long, method: 8, size: long.length + 1 }],
    ['what is no Deflate', { name: 'a', method: 8, packed: Buffer.from('no deflate at all'), size: 17 }],
    ['Deflate that is cut off', { name: 'a', data: long, method: 8, packed: deflateRawSync(long).subarray(0, -10) }],
  ]
  for (const [about, file] of files) {
    it(about, async () => {
      const archive = await opened(makeZip([file]))
      await expect(bytesOf(archive, 'a')).rejects.toMatchObject({ name: 'ArchiveError', fault: 'damaged' })
      archive.close()
    })
  }

  it('a zip bomb with a small declared size, after few bytes', async () => {
    const file = { name: 'a', data: Buffer.alloc(2 ** 26), method: 8, size: 1000 }
    const archive = await opened(makeZip([file]))
    let seen = 0
    const read = async () => {
      for await (const chunk of (await archive.file('a')?.open()) ?? []) seen += chunk.length
    }
    await expect(read()).rejects.toMatchObject({ fault: 'damaged' })
    expect(seen).toBeLessThan(2 ** 20)
    archive.close()
  })

  it('a file whose local header overlaps the next one', async () => {
    const archive = await opened(makeZip([{ name: 'a', data: 'x', localExtra: NOTHING }, likes]))
    archive.close()
    const bytes = makeZip([{ name: 'a', data: 'x' }, likes])
    // The length of its extra fields, which the central directory does not have.
    bytes.writeUInt16LE(60, 28)
    const lying = await opened(bytes)
    await expect(bytesOf(lying, 'a')).rejects.toMatchObject({ fault: 'unsafe' })
    lying.close()
  })

  it('an invalid local header', async () => {
    const bytes = Buffer.from(plain)
    bytes.writeUInt32LE(0, 0)
    const archive = await opened(bytes)
    await expect(archive.document('peertube/likes.json')).rejects.toMatchObject({ fault: 'damaged' })
    archive.close()
  })

  const documents: [about: string, fault: string, data: string, limits?: Partial<typeof archiveLimits>][] = [
    ['no JSON', 'damaged', '{"likes":['],
    ['nothing', 'damaged', ''],
    ['lists inside lists', 'too-large', '['.repeat(100_000)],
    ['objects inside objects', 'too-large', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
    ['too many values', 'too-large', `[${'1,'.repeat(1000)}1]`, { values: 900 }],
    ['too many bytes', 'too-large', `"${'a'.repeat(2000)}"`, { document: 1000 }],
  ]
  for (const [about, fault, data, limits] of documents) {
    it(`a document with ${about}`, async () => {
      const archive = await opened(makeZip([{ name: 'peertube/likes.json', data, method: 8 }]), limits)
      await expect(archive.document('peertube/likes.json')).rejects.toMatchObject({ name: 'ArchiveError', fault })
      archive.close()
    })
  }

  const lists: [about: string, fault: string, data: string, limits?: Partial<typeof archiveLimits>][] = [
    ['no JSON', 'damaged', '{"likes":['],
    ['no JSON behind it', 'damaged', '{"likes":[1]} 2'],
    ['no JSON before it', 'damaged', '{"a" "likes":[1]}'],
    ['no end of it', 'damaged', '{"likes":[1}'],
    ['nothing', 'damaged', ''],
    ['lists inside lists', 'too-large', `{"likes":${'['.repeat(100_000)}`],
    ['too many items', 'too-large', `{"likes":[${'1,'.repeat(1000)}1]}`, { items: 1000 }],
    ['too much beside it', 'too-large', `{"a":"${'a'.repeat(2 ** 20)}","likes":[1]}`],
  ]
  for (const [about, fault, data, limits] of lists) {
    it(`a list with ${about}`, async () => {
      await expect(itemsOf(data, 'likes', limits)).rejects.toMatchObject({ name: 'ArchiveError', fault })
    })
  }

  it('an invalid or too large item of a list, and no other', async () => {
    const data = `{"likes":[1, {"a":[1,2,3]}, {] , {"a":1},, "b"]}`
    const damaged = { fault: 'damaged' }
    expect(await itemsOf(data, 'likes', { values: 2 })).toEqual([1, undefined, damaged, { a: 1 }, damaged, 'b'])
    expect(await itemsOf(data, 'likes', { document: 12 })).toEqual([1, undefined, damaged, { a: 1 }, damaged, 'b'])
  })

  it('but not brackets in strings', async () => {
    const data = JSON.stringify({ a: '[{"\\'.repeat(1000), b: ['"', '\\"{'] })
    const archive = await opened(makeZip([{ name: 'a', data }]))
    expect(await archive.document('a')).toEqual(JSON.parse(data))
    archive.close()
  })
})

it('an error of the store is not one of the archive', async () => {
  const outage = new Error('out of reach')
  const store = { open: async () => Promise.reject(outage) }
  await expect(openArchive({ store, ref, size: 1000 })).rejects.toBe(outage)
  const good = storeOf(plain)
  let fails = false
  const archive = await openArchive({
    store: { open: (of, range) => (fails ? Promise.reject(outage) : good.open(of, range)) },
    ref,
    size: plain.length,
  })
  fails = true
  await expect(archive.file('files/a')?.open()).rejects.toBe(outage)
  archive.close()
})

/** Info-ZIP's Unicode path field with another name. */
function unicodePath(name: string, other: string): Buffer {
  const text = Buffer.from(other)
  const data = Buffer.concat([Buffer.from([1]), fields([crc32Of(name), 4]), text])
  return Buffer.concat([fields([0x7075, 2], [data.length, 2]), data])
}

function crc32Of(name: string): number {
  return makeZip([{ name: 'x', data: name }]).readUInt32LE(14)
}

/** As in "a better zip bomb": the data of the first file contains the header of the second one. */
function quoted(): Buffer {
  const inner = makeZip([{ name: 'b', data: 'the kernel' }])
  const own = inner.subarray(0, inner.readUInt32LE(inner.length - 6))
  return makeZip([
    { name: 'a', data: own },
    { name: 'b', data: 'the kernel', offset: 31, listedOnly: true },
  ])
}

function bomb(): Buffer {
  return makeZip([{ name: 'a', data: Buffer.alloc(4 * 2 ** 20), method: 8 }])
}

function piece(name: string): ZipFile {
  return { name, packed: deflateRawSync(Buffer.alloc(1000)), method: 8, size: 2 ** 20 - 1 }
}

function huge(): Buffer {
  const sizes = fields([2 ** 50, 8])
  const extra = Buffer.concat([fields([1, 2], [sizes.length, 2]), sizes])
  return makeZip([{ name: 'a', data: long, method: 8, size: 0xffffffff, extra }])
}

function zip64({ count = 1, at }: { count?: number; at?: number }): Buffer {
  const honest = makeZip([likes])
  const listOffset = honest.readUInt32LE(honest.length - 6)
  const list = honest.length - 22 - listOffset
  const end = zip64End({ count, listSize: list, listOffset, at: at ?? listOffset + list })
  return makeZip([likes], { beforeEnd: end, count: 0xffff, listOffset: 0xffffffff })
}
