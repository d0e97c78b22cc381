// The file system store beyond the common contract: partial files, symbolic links, remains of dead processes.

import { mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
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
    user_exports: in_('user_exports'),
    uploads: in_('uploads'),
    tmp: in_('tmp'),
  }
}

const video = (name: string) => ({ kind: 'web_videos', name }) as const
const namesOf = async (kind: FileKind, folder?: string) => {
  const names: string[] = []
  for await (const { name } of store.list(kind, folder)) names.push(name)
  return names.sort()
}

it('leaves no partial file when the stream fails', async () => {
  const broken = Readable.from(
    (async function* () {
      yield 'new'
      throw new Error('connection lost')
    })(),
  )
  await expect(store.put(video('a.mp4'), broken)).rejects.toThrow('connection lost')
  expect(await readdir(join(root, 'web_videos', '.incoming'))).toEqual([])
})

describe('names', () => {
  it('do not follow symbolic links, to a file or a folder', async () => {
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

describe('housekeeping', () => {
  it('removes only old partial files of dead writers', async () => {
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

  it('has a folder for every kind', () => {
    expect(Object.keys(directoriesIn('x')).sort()).toEqual([...fileKinds].sort())
  })
})
