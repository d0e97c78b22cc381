// Malicious plugin packages that are forged, escape their folder or are endless: refused before any use.

import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { createGzip, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import tar from 'tar-stream'
import { packFolder, readPackage, unpack } from '../../../src/actors/plugin/package.ts'
import { listFiles } from '../../support/list-files.ts'
import { fixturePlugin, packFixture } from '../../support/plugin-registry.ts'

const manifest = { name: 'peertube-plugin-x', version: '1.0.0', engine: { peertube: '>=6' } }

type Entry = Partial<tar.Headers> & { name: string; content?: string | Buffer }

async function packageOf(entries: Entry[], document: object = manifest): Promise<Buffer> {
  const pack = tar.pack()
  const packed = buffer(pack.pipe(createGzip()))
  for (const { content = '', ...header } of [{ name: 'package/package.json', content: JSON.stringify(document) }, ...entries]) {
    pack.entry({ type: 'file', ...header }, content)
  }
  pack.finalize()
  return await packed
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vireo-package-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('a package', () => {
  it('of a folder has all files except hidden ones, and is unpacked unchanged', async () => {
    const read = await readPackage(await packFixture('peertube-theme-example'))
    expect(read.manifest).toMatchObject({
      name: 'peertube-theme-example',
      version: '1.0.0',
      css: ['styles/theme.css'],
      staticDirs: { images: 'images' },
    })
    const target = await mkdtemp(join(folder, 'theme-'))
    await unpack(read.archive, target)
    expect(await listFiles(target)).toEqual(await listFiles(fixturePlugin('peertube-theme-example')))
  })

  it('of the same folder has the same hash', async () => {
    const [one, two] = await Promise.all([packFixture('peertube-plugin-example'), packFixture('peertube-plugin-example')])
    expect((await readPackage(one)).integrity).toBe((await readPackage(two)).integrity)
  })

  it.each([
    ['a path upwards', { name: 'package/../../out' }],
    ['an absolute path', { name: '/etc/out' }],
    ['a path with a backslash', { name: 'package/..\\out' }],
    ['a file beside its folder', { name: 'out' }],
    ['a link', { name: 'package/link', type: 'symlink', linkname: '/etc/passwd' }],
    ['a hard link', { name: 'package/link', type: 'link', linkname: 'package/package.json' }],
    ['a device', { name: 'package/device', type: 'character-device' }],
    ['a path without end', { name: `package/${'a/'.repeat(200)}b` }],
  ] as [string, Entry][])('with %s is refused, and writes nothing outside its folder', async (_what, entry) => {
    const archive = await packageOf([entry])
    await expect(readPackage(archive)).rejects.toMatchObject({ kind: 'unprocessable' })
    const target = join(await mkdtemp(join(folder, 'bad-')), 'inside')
    await expect(unpack(archive, target)).rejects.toMatchObject({ kind: 'unprocessable' })
    expect((await readdir(join(target, '..'))).filter((name) => name !== 'inside')).toEqual([])
  })

  it('that unpacks to more than the limit is refused', async () => {
    const zeros = Buffer.alloc(8 * 1024 * 1024)
    const entries = Array.from({ length: 9 }, (_, at) => ({ name: `package/${at}`, content: zeros }))
    await expect(packageOf(entries).then(readPackage)).rejects.toMatchObject({ kind: 'too_large' })
  })

  it('with more files than the limit is refused', async () => {
    const entries = Array.from({ length: 5001 }, (_, at) => ({ name: `package/${at}` }))
    await expect(packageOf(entries).then(readPackage)).rejects.toMatchObject({ kind: 'too_large' })
  })

  it.each([
    ['no gzip', Buffer.from('hello')],
    ['no tar', gzipSync(Buffer.from('hello'.repeat(1000)))],
    ['nothing', Buffer.alloc(0)],
    ['an empty tar', gzipSync(Buffer.alloc(1024))],
  ])('that is %s is refused', async (_what, archive) => {
    await expect(readPackage(archive)).rejects.toMatchObject({ kind: 'unprocessable' })
  })

  it.each([
    ['another name', { ...manifest, name: 'left-pad' }],
    ['a range as its version', { ...manifest, version: '^1.0.0' }],
    ['a style outside', { ...manifest, css: ['../x.css'] }],
    ['a hidden folder of files', { ...manifest, staticDirs: { x: '.git' } }],
    ['no engine', { ...manifest, engine: undefined }],
    ['dependencies that it does not bundle', { ...manifest, dependencies: { 'left-pad': '1.0.0' } }],
  ])('whose package.json has %s is refused', async (_what, document) => {
    await expect(packageOf([], document).then(readPackage)).rejects.toMatchObject({ kind: 'unprocessable' })
  })

  it('with bundled dependencies is accepted', async () => {
    const bundled = { name: 'package/node_modules/left-pad/package.json', content: '{}' }
    const read = await readPackage(await packageOf([bundled], { ...manifest, dependencies: { 'left-pad': '1.0.0' } }))
    expect(read.manifest.name).toBe(manifest.name)
  })

  it('of a folder without package.json is refused', async () => {
    const empty = await mkdtemp(join(folder, 'empty-'))
    await writeFile(join(empty, 'index.js'), '')
    await expect(packFolder(empty).then(readPackage)).rejects.toMatchObject({ kind: 'unprocessable' })
  })
})
