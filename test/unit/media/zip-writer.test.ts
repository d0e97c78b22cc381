// The ZIP writer, verified with another library; an error leaves nothing that looks complete.

import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import { makeZipWriter } from '../../../src/media/index.ts'
import { readArchive } from '../../support/read-archive.ts'

const modifiedAt = new Date('2026-11-20T20:01:04Z')
const from = (...pieces: (string | Buffer)[]) => Readable.from(pieces, { objectMode: false })

async function written(work: (zip: ReturnType<typeof makeZipWriter>) => Promise<void>): Promise<Buffer> {
  const zip = makeZipWriter({ modifiedAt })
  const whole = buffer(zip.stream)
  await work(zip)
  zip.end()
  return await whole
}

it('writes entries in sequence, compressed or stored', async () => {
  const make = () =>
    written(async (zip) => {
      await zip.add('peertube/a.json', from('{', '}'), { compress: true })
      await zip.add('files/ü.mp4', from('abc', 'def'), { size: 6, compress: false })
      await zip.add('files/empty', from(), { size: 0, compress: false })
    })
  const bytes = await make()
  const entries = await readArchive(bytes)
  expect([...entries].map(([name, { bytes: content, method }]) => [name, String(content), method])).toEqual([
    ['peertube/a.json', '{}', 8],
    ['files/ü.mp4', 'abcdef', 0],
    ['files/empty', '', 0],
  ])
  expect([...entries.values()].map((entry) => entry.modifiedAt)).toEqual(Array(3).fill(modifiedAt))
  // The same entries make the same archive.
  expect((await make()).equals(bytes)).toBe(true)
})

it('writes ZIP64 for entries of unknown size', async () => {
  const versions = async (options: { size?: number }) => {
    const bytes = await written((zip) => zip.add('x', from('abc'), { ...options, compress: false }))
    return bytes.readUInt16LE(bytes.indexOf(Buffer.from([0x50, 0x4b, 1, 2])) + 6)
  }
  // The version needed to read the entry (APPNOTE 4.4.3.2).
  expect([await versions({ size: 3 }), await versions({})]).toEqual([20, 45])
})

it.each([
  [
    'a source that fails',
    () =>
      new Readable({
        read: (): never => {
          throw new Error('unreadable')
        },
      }),
    'unreadable',
  ],
  ['a source of another size', () => from('abcd'), 'unexpected number of bytes'],
])('fails at %s', async (_what, source, message) => {
  const zip = makeZipWriter({ modifiedAt })
  const whole = buffer(zip.stream)
  const added = zip.add('x', source(), { size: 3, compress: false }).then(() => zip.end())
  await expect(whole).rejects.toThrow(message)
  await added.catch((error: unknown) => expect(String(error)).toContain(message))
})

it('refuses duplicate names, and path traversal', async () => {
  for (const name of ['A', '../x', '/x']) {
    const zip = makeZipWriter({ modifiedAt })
    const whole = buffer(zip.stream)
    await zip.add('a', from('x'), { compress: false })
    await expect(zip.add(name, from('y'), { compress: false })).rejects.toThrow()
    await expect(whole).rejects.toThrow()
  }
})

it('stops reading a source when the archive is no longer read', async () => {
  const zip = makeZipWriter({ modifiedAt })
  const source = new PassThrough()
  const added = zip.add('x', source, { compress: false })
  zip.fail(new Error('not wanted any more'))
  await expect(added).rejects.toThrow('not wanted any more')
  expect(source.destroyed).toBe(true)
})
