// Pooled buffers: no chunk changes while it is still in use.

import { randomBytes } from 'node:crypto'
import { openSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { readPooled, writePooled } from '../../../src/media/store/buffer-pool.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vireo-lent-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function streamOf(bytes: Buffer, name: string, bounds = { start: 0, end: bytes.length - 1 }) {
  const path = join(folder, name)
  await writeFile(path, bytes)
  return readPooled(openSync(path, 'r'), bounds)
}

it('files copied at once are intact, and so is one whose chunks are retained', async () => {
  const sizes = [1, 65_535, 65_536, 65_537, 1_000_003]
  const files = Array.from({ length: 20 }, (_, at) => randomBytes(sizes[at % sizes.length] ?? 1))
  const kept = randomBytes(3_000_000)
  const [whole] = await Promise.all([
    buffer(await streamOf(kept, 'kept')),
    ...files.map(async (bytes, at) => pipeline(await streamOf(bytes, `from-${at}`), writePooled(join(folder, `to-${at}`)))),
  ])
  expect(whole.equals(kept)).toBe(true)
  const copies = await Promise.all(files.map((_, at) => readFile(join(folder, `to-${at}`))))
  expect(copies.map((copy, at) => copy.equals(files[at] ?? Buffer.alloc(0)))).toEqual(files.map(() => true))
})

it('a range of a file is correct, and its descriptor is closed when the reader stops', async () => {
  const bytes = randomBytes(200_000)
  expect((await buffer(await streamOf(bytes, 'part', { start: 70_000, end: 150_000 }))).equals(bytes.subarray(70_000, 150_001))).toBe(true)
  const left = await streamOf(bytes, 'left')
  await new Promise((resolve) => left.once('readable', resolve))
  await new Promise<void>((resolve) => left.destroy().once('close', resolve))
  expect(left.destroyed).toBe(true)
})
