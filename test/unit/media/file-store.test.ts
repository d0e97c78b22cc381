// The store on a file system: whole files, safe names, uploads that survive a crash.

import { mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type FileKind, type FileStore, fileKinds, makeFileStore } from '../../../src/media/index.ts'
import { temporaryFolder } from '../../support/media.ts'

let root: string
let store: FileStore

beforeEach(async () => {
  root = await temporaryFolder()
  store = makeFileStore({ directories: directoriesIn(root), tmp: join(root, 'tmp') })
})

afterEach(() => rm(root, { recursive: true, force: true }))

function directoriesIn(folder: string): Record<FileKind, string> {
  const in_ = (kind: FileKind) => join(folder, kind)
  return {
    original_video_files: in_('original_video_files'),
    web_videos: in_('web_videos'),
    streaming_playlists: in_('streaming_playlists'),
    thumbnails: in_('thumbnails'),
    previews: in_('previews'),
    avatars: in_('avatars'),
    captions: in_('captions'),
    storyboards: in_('storyboards'),
    torrents: in_('torrents'),
    redundancy: in_('redundancy'),
    uploads: in_('uploads'),
    tmp: in_('tmp'),
  }
}

const video = (name: string) => ({ kind: 'web_videos', name }) as const
const contentOf = async (name: string) => text((await store.open(video(name))).stream)
const namesOf = async (kind: FileKind, folder?: string) => {
  const names: string[] = []
  for await (const { name } of store.list(kind, folder)) names.push(name)
  return names.sort()
}

describe('putting a file', () => {
  it('takes a stream, bytes, or a local file that it moves or copies', async () => {
    await writeFile(join(root, 'moved'), 'three')
    await writeFile(join(root, 'kept'), 'four')
    await store.put(video('1.mp4'), Readable.from(['o', 'ne']))
    await store.put(video('2.mp4'), Buffer.from('two'))
    await store.put(video('private/3.mp4'), { path: join(root, 'moved') })
    await store.put(video('4.mp4'), { path: join(root, 'kept'), keep: true })
    expect(await namesOf('web_videos')).toEqual(['1.mp4', '2.mp4', '4.mp4', 'private/3.mp4'])
    expect(await Promise.all(['1.mp4', '2.mp4', 'private/3.mp4', '4.mp4'].map(contentOf))).toEqual([
      'one',
      'two',
      'three',
      'four',
    ])
    expect((await readdir(root)).filter((name) => ['moved', 'kept'].includes(name))).toEqual(['kept'])
  })

  it('leaves the old file and no part when the stream breaks', async () => {
    await store.put(video('a.mp4'), Buffer.from('old'))
    const broken = Readable.from(
      (async function* () {
        yield 'new'
        throw new Error('connection lost')
      })(),
    )
    await expect(store.put(video('a.mp4'), broken)).rejects.toThrow('connection lost')
    expect(await contentOf('a.mp4')).toBe('old')
    expect(await readdir(join(root, 'web_videos', '.incoming'))).toEqual([])
  })

  it('says not-found for a local file that is not there', async () => {
    await expect(store.put(video('a.mp4'), { path: join(root, 'nothing') })).rejects.toMatchObject({
      reason: 'not-found',
    })
  })

  it('changes the entity tag with the content', async () => {
    const first = await store.put(video('a.mp4'), Buffer.from('one'))
    const second = await store.put(video('a.mp4'), Buffer.from('three'))
    expect(first.etag).toMatch(/^"[0-9a-f]+-[0-9a-f]+"$/)
    expect(second.etag).not.toBe(first.etag)
    expect(second.size).toBe(5)
  })
})

describe('reading a file', () => {
  it('gives the bytes of a range, cut at the end', async () => {
    await store.put(video('a.mp4'), Buffer.from('0123456789'))
    expect(await text((await store.open(video('a.mp4'), { start: 2, end: 4 })).stream)).toBe('234')
    const { stat, stream } = await store.open(video('a.mp4'), { start: 8, end: 500 })
    expect([stat.size, await text(stream)]).toEqual([10, '89'])
  })

  it('says not-found for a missing file and for a folder', async () => {
    await store.put(video('private/a.mp4'), Buffer.from('x'))
    for (const name of ['missing.mp4', 'private', 'private/a.mp4/b']) {
      await expect(store.open(video(name))).rejects.toMatchObject({ reason: 'not-found' })
      expect(await store.stat(video(name))).toBeUndefined()
    }
  })

  it('gives local tools a path', async () => {
    await store.put(video('a.mp4'), Buffer.from('abc'))
    expect(await store.withLocalPath(video('a.mp4'), (path) => readFile(path, 'utf8'))).toBe('abc')
    await expect(store.withLocalPath(video('b.mp4'), async () => 0)).rejects.toMatchObject({ reason: 'not-found' })
  })
})

describe('names', () => {
  const bad = [
    '../a',
    'a/../../b',
    '/etc/passwd',
    'a\\b',
    'a\0b',
    '',
    '.',
    'a//b',
    'a/',
    '.hidden',
    'a/.incoming/b',
    'a\nb',
  ]
  it.each([...bad, 'x'.repeat(201), 'x/'.repeat(400)])('are refused when they are like %j', async (name) => {
    const ref = video(name)
    const refused = { reason: 'invalid-name' }
    await expect(store.put(ref, Buffer.from('x'))).rejects.toMatchObject(refused)
    await expect(store.open(ref)).rejects.toMatchObject(refused)
    await expect(store.stat(ref)).rejects.toMatchObject(refused)
    await expect(store.remove(ref)).rejects.toMatchObject(refused)
    await expect(store.removeFolder(ref)).rejects.toMatchObject(refused)
    await expect(store.move(video('a'), name)).rejects.toMatchObject(refused)
    await expect(store.openAppend(name, 0)).rejects.toMatchObject(refused)
    await expect(store.workFolder(name)).rejects.toMatchObject(refused)
  })

  it('do not lead through symbolic links, to a file or a folder', async () => {
    const outside = join(root, 'outside')
    await mkdir(outside)
    await writeFile(join(outside, 'secret'), 'secret')
    await mkdir(join(root, 'web_videos'))
    await symlink(join(outside, 'secret'), join(root, 'web_videos', 'file'))
    await symlink(outside, join(root, 'web_videos', 'folder'))
    for (const name of ['file', 'folder/secret']) {
      await expect(store.open(video(name))).rejects.toMatchObject({ reason: 'invalid-name' })
      await expect(store.put(video(name), Buffer.from('x'))).rejects.toMatchObject({ reason: 'invalid-name' })
      await expect(store.withLocalPath(video(name), async () => 0)).rejects.toMatchObject({ reason: 'invalid-name' })
    }
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('secret')
    expect(await namesOf('web_videos')).toEqual([])
  })
})

describe('moving and removing', () => {
  it('moves a file between public and private, and does not mind doing it twice', async () => {
    await store.put(video('a.mp4'), Buffer.from('x'))
    await store.move(video('a.mp4'), 'private/a.mp4')
    await store.move(video('a.mp4'), 'private/a.mp4')
    expect(await namesOf('web_videos')).toEqual(['private/a.mp4'])
    await expect(store.move(video('none.mp4'), 'private/none.mp4')).rejects.toMatchObject({ reason: 'not-found' })
  })

  it('moves a whole playlist folder', async () => {
    const kind = 'streaming_playlists'
    await store.put({ kind, name: 'hls/v1/a.m3u8' }, Buffer.from('x'))
    await store.put({ kind, name: 'hls/v1/b.mp4' }, Buffer.from('y'))
    await store.moveFolder({ kind, name: 'hls/v1' }, 'hls/private/v1')
    await store.moveFolder({ kind, name: 'hls/v1' }, 'hls/private/v1')
    expect(await namesOf(kind)).toEqual(['hls/private/v1/a.m3u8', 'hls/private/v1/b.mp4'])
    expect(await namesOf(kind, 'hls/private')).toHaveLength(2)
  })

  it('removes files and folders, missing ones too', async () => {
    await store.put(video('private/a.mp4'), Buffer.from('x'))
    await store.remove(video('private/a.mp4'))
    await store.remove(video('private/a.mp4'))
    await store.put(video('private/b.mp4'), Buffer.from('x'))
    await store.removeFolder(video('private'))
    await store.removeFolder(video('private'))
    expect(await namesOf('web_videos')).toEqual([])
  })
})

describe('an upload in progress', () => {
  const write = async (offset: number, bytes: string) => {
    const appender = await store.openAppend('u1', offset)
    await appender.write(Buffer.from(bytes))
    const safe = await appender.sync()
    await appender.close()
    return safe
  }
  const content = async () => text((await store.open({ kind: 'uploads', name: 'u1' })).stream)

  it('grows chunk by chunk and says what is safe', async () => {
    expect(await write(0, 'abc')).toBe(3)
    expect(await write(3, 'def')).toBe(6)
    expect(await content()).toBe('abcdef')
  })

  it('cuts off bytes that were written but never acknowledged', async () => {
    await write(0, 'abcXYZ')
    expect(await write(3, 'd')).toBe(4)
    expect(await content()).toBe('abcd')
  })

  it('refuses to leave a hole', async () => {
    await write(0, 'abc')
    await expect(store.openAppend('u1', 4)).rejects.toMatchObject({ reason: 'offset' })
    expect(await content()).toBe('abc')
  })

  it('may be closed twice', async () => {
    const appender = await store.openAppend('u1', 0)
    await appender.close()
    await expect(appender.close()).resolves.toBeUndefined()
  })
})

describe('housekeeping', () => {
  it('makes, keeps and removes work folders', async () => {
    const folder = await store.workFolder('transcoding/1')
    await writeFile(join(folder, 'a'), 'x')
    expect(await store.workFolder('transcoding/1')).toBe(folder)
    expect(await readdir(folder)).toEqual(['a'])
    await store.removeWorkFolder('transcoding/1')
    await store.removeWorkFolder('transcoding/1')
    expect(await readdir(join(root, 'tmp', 'transcoding'))).toEqual([])
  })

  it('sweeps only old parts of writers that died', async () => {
    const incoming = join(root, 'web_videos', '.incoming')
    await mkdir(incoming, { recursive: true })
    const now = new Date('2030-01-01T12:00:00Z')
    await writeFile(join(incoming, 'old'), 'x')
    await writeFile(join(incoming, 'new'), 'x')
    await utimes(join(incoming, 'old'), now, new Date('2030-01-01T10:00:00Z'))
    await utimes(join(incoming, 'new'), now, new Date('2030-01-01T11:59:00Z'))
    expect(await store.sweep({ olderThanMs: 3_600_000, now })).toBe(1)
    expect(await readdir(incoming)).toEqual(['new'])
  })

  it('knows a folder for every kind', () => {
    expect(Object.keys(directoriesIn('x')).sort()).toEqual([...fileKinds].sort())
  })
})
