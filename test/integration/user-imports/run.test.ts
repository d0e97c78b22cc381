// The import of an uploaded archive, with importers that only record their items: order, counts, resumption after an interruption, and
// removal of the archive's bytes.

import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { DomainError } from '../../../src/actors/runtime/index.ts'
import { type ImportContext, type ItemOutcome, importedParts, type PartImporter } from '../../../src/actors/user-archive/index.ts'
import { StorageOutage } from '../../../src/media/index.ts'
import { eventually, latch } from '../../support/until.ts'
import { makeZip, type ZipFile } from '../../support/zip.ts'
import { allFiles, type Disk, makeDisk, type NodeOptions, startNode, type UploadNode } from '../uploads/node.ts'

const DATE = '2024-01-02T03:04:05.000Z'
const like = (n: number) => ({ videoUrl: `https://video.example/${n}`, createdAt: DATE })
const likes = (count: number): ZipFile => ({
  name: 'peertube/likes.json',
  data: JSON.stringify({ likes: Array.from({ length: count }, (_, n) => like(n)) }),
  method: 8,
})

type Meet = (item: unknown, context: ImportContext, part: string) => Promise<ItemOutcome>

let disk: Disk
let node: UploadNode
let seen: [part: string, item: unknown][]
beforeAll(async () => {
  disk = await makeDisk()
})
afterAll(() => disk.remove())
afterEach(async () => {
  for (const table of ['job', 'upload', 'user_import', 'pending_file']) await node.db.query(`delete from ${table}`)
  await node.db.query("update users set state = 'active'")
  await node.stop()
  await disk.store.clear()
})

async function start(meet: Meet = async () => 'success', options: NodeOptions = {}): Promise<void> {
  seen = []
  const partImporters = importedParts.map(
    (part): PartImporter => ({
      part,
      async importItem(item, context) {
        seen.push([part, item])
        return await meet(item, context, part)
      },
    }),
  )
  node = await startNode(disk, { partImporters, ...options })
}

const address = (user = disk.users.owner) => `${node.base}/api/v1/users/${user.id}/imports`

async function upload(archive: Buffer): Promise<void> {
  const headers = { authorization: `Bearer ${disk.users.owner.token}` }
  const opened = await fetch(`${address()}/import-resumable`, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      'x-upload-content-length': String(archive.length),
      'x-upload-content-type': 'application/zip',
    },
    body: JSON.stringify({ filename: 'archive.zip' }),
  })
  expect(opened.status).toBe(201)
  const id = opened.headers.get('location')?.split('upload_id=')[1]
  const sent = await fetch(`${address()}/import-resumable?upload_id=${id}`, {
    method: 'PUT',
    headers: { ...headers, 'content-range': `bytes 0-${archive.length - 1}/${archive.length}` },
    body: new Uint8Array(archive),
  })
  expect(sent.status).toBe(204)
}

interface View {
  id: number
  state: { id: number; label: string }
  progress: { part: string | null; partsDone: number; parts: number; itemsDone: number; items: number | null }
  resultSummary: { stats: Record<string, { success: number; duplicates: number; errors: number }> }
  failures: { total: number; data: { part: string; index: number; name: string | null; reason: string }[] }
  error: string | null
}
async function latest(): Promise<View> {
  const answer = await fetch(`${node.base}/api/v1/vireo/users/${disk.users.owner.id}/imports/latest`, {
    headers: { authorization: `Bearer ${disk.users.owner.token}` },
  })
  expect(answer.status).toBe(200)
  return (await answer.json()) as View
}
const ended = (label: string) =>
  eventually(async () => {
    expect((await latest()).state.label).toBe(label)
    expect(await allFiles(disk)).toEqual([])
  })
const mails = async () =>
  (await node.db.query<{ mail: string }>("select data->>'mail' as mail from job where type = 'email' order by id")).map(({ mail }) => mail)

describe('an archive', () => {
  it('is imported part by part in order, and counted', async () => {
    await start(async (item) => (JSON.stringify(item).includes('/1"') ? 'duplicate' : 'success'))
    const words = { watchedWordLists: [{ listName: 'a', words: ['b'] }] }
    await upload(
      makeZip([
        likes(3),
        { name: 'peertube/watched-words-lists.json', data: JSON.stringify(words) },
        { name: 'peertube/dislikes.json', data: '{"dislikes":[{"videoUrl":5},{}]}' },
        { name: 'peertube/following.json', data: '{"following":"nobody"}' },
        { name: 'peertube/comments.json', data: '{"comments":[{}]}' },
        { name: 'notes.txt', data: 'of another program' },
      ]),
    )
    await ended('Completed')
    expect(seen.map(([part]) => part)).toEqual(['watched-words-lists', 'likes', 'likes', 'likes'])
    const { progress, resultSummary, error } = await latest()
    expect(progress).toEqual({ part: null, partsDone: 12, parts: 12, itemsDone: 0, items: null })
    expect(error).toBeNull()
    const { stats } = resultSummary
    expect(Object.keys(stats)).toHaveLength(12)
    expect(stats.likes).toEqual({ success: 2, duplicates: 1, errors: 0 })
    expect(stats.watchedWordsLists).toEqual({ success: 1, duplicates: 0, errors: 0 })
    expect(stats.dislikes).toEqual({ success: 0, duplicates: 0, errors: 2 })
    expect(stats.following).toEqual({ success: 0, duplicates: 0, errors: 1 })
    expect(stats.videos).toEqual({ success: 0, duplicates: 0, errors: 0 })
    expect(await mails()).toEqual(['user-import-completed'])
  })

  it('provides the files named by its documents, and no others', async () => {
    const found: (string | undefined)[] = []
    await start(async (_item, { file }) => {
      for (const name of ['../files/a.txt', '../../files/a.txt', '/files/a.txt', '../files/none', null, '']) {
        const one = file(name)
        found.push(one && `${one.path}: ${await text(await one.open())}`)
      }
      return 'success'
    })
    await upload(makeZip([likes(1), { name: 'files/a.txt', data: 'hello' }]))
    await ended('Completed')
    expect(found).toEqual(['files/a.txt: hello', ...Array.from({ length: 5 }, () => undefined)])
  })

  it('continues with the next item after a refused one', async () => {
    await start(async (item, { file }) => {
      if (JSON.stringify(item).includes('/1"')) throw new DomainError('forbidden', 'Not this one.')
      if (JSON.stringify(item).includes('/2"')) await text((await file('../files/bad')?.open()) ?? Readable.from([]))
      return 'success'
    })
    const large = { ...like(9), more: new Array(100_001).fill(1) }
    const dislikes = JSON.stringify({ dislikes: [large, like(8)] })
    await upload(makeZip([likes(4), { name: 'files/bad', data: 'bad', crc: 1 }, { name: 'peertube/dislikes.json', data: dislikes }]))
    await ended('Completed')
    const { stats } = (await latest()).resultSummary
    expect(stats.likes).toEqual({ success: 2, duplicates: 0, errors: 2 })
    expect(stats.dislikes).toEqual({ success: 1, duplicates: 0, errors: 1 })
  })

  it('names failed items, with their reasons', async () => {
    await start(async (item, { file }, part) => {
      const told = JSON.stringify(item)
      if (told.includes('/0?')) throw new DomainError('not_found', 'A secret of this server.')
      if (told.includes('/1"')) await text((await file('../files/bad')?.open()) ?? Readable.from([]))
      if (told.includes('/2"')) throw new DomainError('too_large', 'Too much.', { code: 'quota_reached' })
      return part === 'automatic-tag-policies' ? { error: 'forbidden' } : 'success'
    })
    const first = { videoUrl: 'https://name:word@video.example/0?token=secret#part', createdAt: DATE }
    const likes = [first, like(1), { videoUrl: 5 }, like(2), like(3)]
    const odd = { displayName: `a\u0007 list\ud800 of ${'x'.repeat(500)}` }
    await upload(
      makeZip([
        { name: 'peertube/likes.json', data: JSON.stringify({ likes }) },
        { name: 'peertube/video-playlists.json', data: JSON.stringify({ videoPlaylists: [odd] }) },
        { name: 'peertube/automatic-tag-policies.json', data: '{"reviewComments":[{"name":"external-link"}]}' },
        { name: 'peertube/account.json', data: '{"name":"no account"}' },
        { name: 'files/bad', data: 'bad', crc: 1 },
      ]),
    )
    await ended('Completed')
    expect((await latest()).failures).toEqual({
      total: 7,
      data: [
        { part: 'account', index: 0, name: null, reason: 'invalid' },
        { part: 'automatic-tag-policies', index: 0, name: 'external-link', reason: 'forbidden' },
        { part: 'video-playlists', index: 0, name: `a  list\ufffd of ${'x'.repeat(188)}`, reason: 'invalid' },
        { part: 'likes', index: 0, name: 'https://video.example/0', reason: 'not_found' },
        { part: 'likes', index: 1, name: 'https://video.example/1', reason: 'damaged' },
        { part: 'likes', index: 2, name: null, reason: 'invalid' },
        { part: 'likes', index: 3, name: 'https://video.example/2', reason: 'quota_reached' },
      ],
    })
  })

  it('names the first hundred, each once, also after a change of the process', async () => {
    let hangs = true
    const meet: Meet = async (item, { signal }) => {
      if (hangs && JSON.stringify(item).includes('/60"')) {
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      }
      return { error: 'not_found' }
    }
    await start(meet)
    await upload(makeZip([likes(150)]))
    await eventually(async () => expect(seen).toHaveLength(61))
    await node.stop()
    hangs = false
    await start(meet)
    await ended('Completed')
    const { total, data } = (await latest()).failures
    expect(total).toBe(150)
    expect(data.map(({ index }) => index)).toEqual(Array.from({ length: 100 }, (_, index) => index))
  })

  it('shows how far it is', async () => {
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    await start(async (item) => {
      if (JSON.stringify(item).includes('/3"')) await gate
      // Longer than the interval of progress updates.
      else await new Promise((resolve) => setTimeout(resolve, 120))
      return 'success'
    })
    await upload(makeZip([likes(5)]))
    await eventually(async () => {
      const { state, progress, resultSummary } = await latest()
      expect(state).toEqual({ id: 2, label: 'Processing' })
      expect(progress).toEqual({ part: 'likes', partsDone: 9, parts: 12, itemsDone: 3, items: 5 })
      expect(resultSummary.stats.likes).toEqual({ success: 3, duplicates: 0, errors: 0 })
    }, 10_000)
    const again = await fetch(`${address()}/import-resumable`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${disk.users.owner.token}`,
        'content-type': 'application/json',
        'x-upload-content-length': '100',
        'x-upload-content-type': 'application/zip',
      },
      body: JSON.stringify({ filename: 'another.zip' }),
    })
    expect(again.status).toBe(400)
    expect(await again.json()).toMatchObject({ detail: 'An import of this user is already being processed.' })
    go()
    await ended('Completed')
  })

  it('is continued by another process, at the current item', async () => {
    let hangs = true
    const meet: Meet = async (item, { signal }) => {
      if (hangs && JSON.stringify(item).includes('/2"')) {
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      }
      return 'success'
    }
    await start(meet)
    await upload(makeZip([likes(4)]))
    await eventually(async () => expect(seen).toHaveLength(3))
    await node.stop()
    hangs = false
    await start(meet)
    await ended('Completed')
    expect(seen.map(([, item]) => item)).toEqual([like(2), like(3)])
    expect((await latest()).resultSummary.stats.likes).toEqual({ success: 4, duplicates: 0, errors: 0 })
    expect(await mails()).toEqual(['user-import-completed'])
  })
})

describe('an import fails, with nothing left', () => {
  type Case = [about: string, archive: Buffer, error: RegExp]
  const badNames: [about: string, name: string][] = [
    ['a control character', 'files/a\u0007'],
    ['a backslash', 'files\\a'],
    ['a drive letter', 'C:/a'],
    ['a dot segment', 'files/./a'],
    ['256 bytes', `files/${'é'.repeat(128)}`],
  ]
  const named = ([about, name]: [string, string]): Case => [
    `of one with a name with ${about}`,
    makeZip([likes(1), { name, data: 'x' }]),
    /bad name/,
  ]
  const archives: Case[] = [
    ['of what is no archive', Buffer.from('no archive'), /no ZIP archive/],
    ['of an archive of something else', makeZip([{ name: 'a.txt', data: 'hello' }]), /no data of a user/],
    ['of one that leads elsewhere', makeZip([likes(1), { name: '../a', data: 'x' }]), /bad name/],
    ...badNames.map(named),
    [
      'of one with a name that is there twice',
      makeZip([likes(1), { name: 'files/a', data: 'x' }, { name: 'files/A', data: 'y' }]),
      /two files of one name/,
    ],
    ['of one with a link', makeZip([likes(1), { name: 'a', data: '/', mode: 0o120777 }]), /link/],
    [
      'of a document that is no JSON, before anything of the others is used',
      makeZip([likes(1), { name: 'peertube/video-history.json', data: '{"watchedVideos":[' }]),
      /no JSON/,
    ],
    ['of a document that is too deep', makeZip([{ name: 'peertube/likes.json', data: '['.repeat(9999) }]), /too deep/],
    ['of a document with a wrong checksum', makeZip([{ name: 'peertube/likes.json', data: '{"likes":[]}', crc: 5 }]), /damaged/],
  ]
  for (const [about, archive, error] of archives) {
    it(about, async () => {
      await start()
      await upload(archive)
      await ended('Failed')
      expect(seen).toEqual([])
      const { state, error: told } = await latest()
      expect(state.id).toBe(4)
      expect(told).toMatch(error)
      expect(await mails()).toEqual(['user-import-failed'])
    })
  }

  it('of a user who was blocked meanwhile', async () => {
    await start(async () => {
      await node.db.query("update users set state = 'blocked' where id = $1", [disk.users.owner.id])
      throw new DomainError('unavailable', 'Later.')
    })
    await upload(makeZip([likes(1)]))
    await eventually(async () => {
      const [row] = await node.db.query<{ state: string }>('select state from user_import')
      expect(row?.state).toBe('errored')
      expect(await allFiles(disk)).toEqual([])
    })
  })

  it('when workers are lost repeatedly', async () => {
    await start(async () => {
      throw new Error('a fault that nobody knows')
    })
    await upload(makeZip([likes(1)]))
    for (let lost = 1; lost <= 10; lost += 1) {
      await eventually(async () => {
        await node.db.query("update job set due_at = now() where type = 'import-user-archive' and state = 'delayed'")
        const [row] = await node.db.query<{ lost: number }>("select (context->>'lost')::int as lost from user_import")
        expect(row?.lost).toBeGreaterThanOrEqual(lost)
      })
    }
    await ended('Failed')
    expect((await latest()).error).toBe('The worker was lost too often')
  })
})

it('an import waits for the end of an outage', async () => {
  let isOut = true
  await start(async () => {
    if (isOut) throw new StorageOutage('out of reach')
    return 'success'
  })
  await upload(makeZip([likes(2)]))
  await eventually(async () => {
    const [job] = await node.db.query<{ state: string }>("select state from job where type = 'import-user-archive'")
    expect(job?.state).toBe('delayed')
  }, 10_000)
  expect((await latest()).state.label).toBe('Processing')
  isOut = false
  await eventually(async () => {
    await node.db.query("update job set due_at = now() where type = 'import-user-archive' and state = 'delayed'")
    expect((await latest()).state.label).toBe('Completed')
  })
  expect((await latest()).resultSummary.stats.likes).toEqual({ success: 2, duplicates: 0, errors: 0 })
})

describe('an import that exceeds the timeout of its job', () => {
  const settings = { jobs: { ttlMs: () => 3_000, attempts: () => 1 } }
  const hangingAt =
    (hangs: () => number | undefined): Meet =>
    async (item, { signal }) => {
      if (JSON.stringify(item).includes(`/${hangs()}"`)) {
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      }
      return 'success'
    }

  it('continues where it was', async () => {
    let at: number | undefined = 2
    await start(
      hangingAt(() => at),
      { settings },
    )
    await upload(makeZip([likes(4)]))
    await eventually(async () => {
      const [job] = await node.db.query<{ state: string }>("select state from job where type = 'import-user-archive'")
      expect(job?.state).toBe('delayed')
    })
    const met = seen.length
    expect(seen.map(([, item]) => item)).toEqual([like(0), like(1), like(2)])
    expect((await latest()).progress).toMatchObject({ part: 'likes', itemsDone: 2, items: 4 })
    at = undefined
    await eventually(async () => {
      await node.db.query("update job set due_at = now() where type = 'import-user-archive' and state = 'delayed'")
      expect((await latest()).state.label).toBe('Completed')
    })
    expect(seen.slice(met).map(([, item]) => item)).toEqual([like(2), like(3)])
    expect((await latest()).resultSummary.stats.likes).toEqual({ success: 4, duplicates: 0, errors: 0 })
  })

  it('fails at an item that takes the whole timeout', async () => {
    await start(
      hangingAt(() => 0),
      { settings },
    )
    await upload(makeZip([likes(4)]))
    await eventually(async () => {
      const { state, error } = await latest()
      expect([state.label, error]).toEqual(['Failed', 'The import took too long.'])
    })
    expect(seen).toHaveLength(1)
    await eventually(async () => expect(await allFiles(disk)).toEqual([]))
  })
})

describe('the upload of an archive', () => {
  const likesZip = makeZip([likes(1)])
  const headers = () => ({ authorization: `Bearer ${disk.users.owner.token}` })
  const open = async (filename: string): Promise<string> => {
    const answer = await fetch(`${address()}/import-resumable`, {
      method: 'POST',
      headers: {
        ...headers(),
        'content-type': 'application/json',
        'x-upload-content-length': String(likesZip.length),
        'x-upload-content-type': 'application/zip',
      },
      body: JSON.stringify({ filename }),
    })
    expect(answer.status).toBe(201)
    return answer.headers.get('location')?.split('upload_id=')[1] ?? ''
  }
  const put = async (id: string, range: string, bytes?: Buffer): Promise<[status: number, range: string | null]> => {
    const answer = await fetch(`${address()}/import-resumable?upload_id=${id}`, {
      method: 'PUT',
      headers: { ...headers(), 'content-range': range },
      ...(bytes ? { body: new Uint8Array(bytes) } : {}),
    })
    return [answer.status, answer.headers.get('range')]
  }
  const size = likesZip.length
  const whole = (id: string) => put(id, `bytes 0-${size - 1}/${size}`, likesZip)
  const all = `bytes=0-${size - 1}`
  const rows = async (id: string) =>
    await node.db.query('select u.*, i.state as import from upload u join user_import i on i.id = u.user_import_id where token = $1', [id])

  it('refused because of a running import stays as it is when its offset is asked', async () => {
    const gate = latch()
    await start(async () => {
      await gate.opened
      return 'success'
    })
    const [one, other] = [await open('one.zip'), await open('other.zip')]
    expect(await whole(one)).toEqual([204, null])
    expect((await whole(other))[0]).toBe(409)
    const refused = await rows(other)
    expect(refused).toMatchObject([{ state: 'assembled', import: 'uploading' }])
    const ask = () => put(other, `bytes */${size}`)
    expect(await ask()).toEqual([308, all])
    expect(await put(other, `bytes */${size + 1}`)).toEqual([409, all])
    // It only stays open for longer.
    const kept = { updated_at: expect.any(Date), due_at: expect.any(Date) }
    expect(await rows(other)).toEqual([{ ...refused[0], ...kept }])
    gate.open()
    await eventually(async () => expect((await latest()).state.label).toBe('Completed'))
    // A resuming client has nothing left to send.
    expect(await ask()).toEqual([204, null])
    await ended('Completed')
    expect(await ask()).toEqual([204, null])
    expect(seen).toHaveLength(2)
  })

  it('expires some time after its last stored bytes or the last status query, and no other request extends it', async () => {
    await start()
    const id = await open('one.zip')
    await put(id, `bytes 0-9/${size}`, likesZip.subarray(0, 10))
    await node.db.query("update upload set due_at = now() + interval '10 minutes'")
    const due = async () => (await rows(id))[0]?.due_at as Date
    const before = await due()
    expect(await open('one.zip')).toBe(id)
    expect((await put(id, 'bytes ?'))[0]).toBe(308)
    expect((await put(id, `bytes */${size + 1}`))[0]).toBe(409)
    expect((await put(id, `bytes 0-9/${size}`, likesZip.subarray(0, 10)))[0]).toBe(308)
    expect((await put(id, `bytes 20-29/${size}`, likesZip.subarray(20, 30)))[0]).toBe(308)
    expect((await put(id, `bytes 10-19/${size + 1}`, likesZip.subarray(10, 20)))[0]).toBe(409)
    expect(await due()).toEqual(before)
    expect((await put(id, `bytes */${size}`))[0]).toBe(308)
    expect((await due()).getTime()).toBeGreaterThan(before.getTime() + 30 * 60_000)
    await node.db.query("update upload set due_at = now() + interval '10 minutes'")
    expect((await put(id, `bytes 10-19/${size}`, likesZip.subarray(10, 20)))[0]).toBe(308)
    expect((await due()).getTime()).toBeGreaterThan(before.getTime() + 30 * 60_000)
    // A request that has the lease, and stores nothing.
    await node.db.query("update upload set due_at = now(), lease_owner = 'elsewhere|1|1|alive', lease_until = now() + interval '1 minute'")
    await eventually(async () => {
      const [row] = await rows(id)
      expect(row?.due_at).toEqual(row?.lease_until)
    })
    await node.db.query('update upload set due_at = now(), lease_until = now()')
    await eventually(async () => {
      expect(await rows(id)).toEqual([])
      expect(await allFiles(disk)).toEqual([])
    })
  })
})

it('an import ends with its user', async () => {
  await start(async (_item, { signal }) => {
    await node.db.query("update users set state = 'deleted' where id = $1", [disk.users.owner.id])
    return await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  await upload(makeZip([likes(1)]))
  await eventually(async () => {
    const [row] = await node.db.query<{ state: string }>('select state from user_import')
    expect(row?.state).toBe('cancelled')
    expect(await allFiles(disk)).toEqual([])
  })
  expect(await mails()).toEqual([])
})
