// The archive page, without scripts: archives are created, downloaded, deleted and imported.

import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import pg from 'pg'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { makeLogger } from '../../../src/platform/logger.ts'
import { fixture } from '../../support/archive.ts'
import { type Browser, type Form, linksIn, makeBrowser, partIn, type SentFile, SURE } from '../../support/browser.ts'
import { startTestNode, storedNames, type TestNode } from '../../support/node.ts'
import { eventually } from '../../support/until.ts'

const PASSWORD = 'a good password'
const PAGE = '/my-account/import-export'
const QUOTA = 2_000_000

let node: TestNode
let root: Client
let database: pg.Client
let archive: Buffer
const logged: string[] = []
beforeAll(async () => {
  const destination = new Writable({
    write(line, _encoding, done) {
      logged.push(String(line))
      done()
    },
  })
  node = await startTestNode({
    logger: makeLogger({ level: 'warn', destination }),
    config: {
      transcoding: { enabled: false },
      export: { users: { max_user_video_quota: '1MB' } },
      vireo: { uploads: { max_partial_per_user: '8MB' } },
    },
  })
  root = await login(node.base, node.username, node.password)
  database = new pg.Client({ connectionString: node.databaseUrl })
  await database.connect()
  archive = await readFile(fixture)
})
afterAll(async () => {
  await database?.end()
  await node?.stop()
})

let serial = 0
/** A new user, logged in on the pages. */
async function newcomer(videoQuota = -1): Promise<{ id: number; name: string; browser: Browser }> {
  serial += 1
  const name = `person${serial}`
  const body = { username: name, email: `${name}@example.com`, password: PASSWORD, role: 2 }
  const quotas = { videoQuota, videoQuotaDaily: -1 }
  const { user } = await root.send<{ user: { id: number } }>('POST', '/api/v1/users', { ...body, ...quotas })
  const browser = makeBrowser(node.base)
  expect((await browser.login(name, PASSWORD)).path).toBe('/')
  return { id: user.id, name, browser }
}

const zipFile = (bytes: Uint8Array, fields: Partial<SentFile> = {}): SentFile => ({
  field: 'archive',
  name: 'archive.zip',
  type: 'application/zip',
  bytes,
  ...fields,
})
const importForm = async (browser: Browser): Promise<Form> => partIn((await browser.open(PAGE)).html, 'import')
const uploads = async (userId: number) =>
  (await database.query('select state, lease_owner from upload where user_id = $1 order by id', [userId])).rows
const imports = async (userId: number) =>
  (await database.query('select state, size::integer from user_import where user_id = $1 order by id', [userId])).rows
const bytesLeft = async (): Promise<string[]> => {
  const local = await readdir(join(node.dataDir, 'storage', 'tmp')).catch(() => [])
  return [...(await storedNames(node, 'uploads')), ...local.filter((name) => name.includes('import'))]
}

describe('an archive uploaded in a form', () => {
  let person: Awaited<ReturnType<typeof newcomer>>
  beforeEach(async () => {
    person = await newcomer()
  })

  it('is imported, and its bytes are deleted', async () => {
    const { browser, id } = person
    const page = await browser.open(PAGE)
    expect(page.html).toContain('a ZIP file of at most 8.4 MB')
    expect(page.html).toContain('within 10\u00a0minutes')
    expect(page.html).toContain('they follow your old account')
    expect(page.html).not.toMatch(/Brought in|Here already|Not usable/)
    const sent = await browser.sendFile(await importForm(browser), zipFile(archive))
    expect([sent.status, sent.path]).toEqual([200, `${PAGE}?done=import`])
    expect(await imports(id)).toMatchObject([{ size: archive.length }])
    let html = ''
    await eventually(async () => {
      html = (await browser.open(PAGE)).html
      expect(html).toContain('<strong>Completed</strong>')
    })
    expect(html).toMatch(/<dt>Brought in<\/dt><dd>[1-9]/)
    expect(html).toContain('What was not brought in')
    expect(html).toMatch(/<li>Likes: <bdi>http[^<]+<\/bdi> cannot be found\.<\/li>/)
    const view = await root.get<{ resultSummary: { stats: { videos: { success: number } } } }>(`/api/v1/vireo/users/${id}/imports/latest`)
    expect(view.resultSummary.stats.videos.success).toBeGreaterThan(0)
    await eventually(async () => expect(await bytesLeft()).toEqual([]))
  })

  it('is accepted from pages of this server only, from its logged-in user, with the token of the form', async () => {
    const { browser, id } = person
    const form = await importForm(browser)
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    expect((await browser.sendFile(form, zipFile(archive), foreign)).status).toBe(403)
    const other = await importForm((await newcomer()).browser)
    for (const fields of [{ part: 'import' }, { token: 'f00', part: 'import' }, other.fields]) {
      expect((await browser.sendFile({ ...form, fields }, zipFile(archive))).status).toBe(403)
    }
    const visitor = makeBrowser(node.base)
    expect((await visitor.sendFile(form, zipFile(archive))).path).toBe(`/login?next=${encodeURIComponent(PAGE)}`)
    expect([await uploads(id), await imports(id), await bytesLeft()]).toEqual([[], [], []])
  })

  it('is refused with the reason on the page, and leaves nothing', async () => {
    const { browser, id } = person
    const form = await importForm(browser)
    const refused = async (file: SentFile): Promise<[status: number, problem: string | undefined]> => {
      const { status, html } = await browser.sendFile(form, file)
      return [status, /class="problem"[^>]*>([^<]*)</.exec(html)?.[1]]
    }
    expect(await refused(zipFile(archive, { name: 'archive.txt' }))).toEqual([400, 'User import file must be a zip'])
    expect(await refused(zipFile(archive, { type: 'text/plain' }))).toEqual([400, 'User import file must be a zip'])
    expect(await refused(zipFile(new Uint8Array()))).toEqual([400, 'This file is empty.'])
    expect(await refused(zipFile(archive, { field: 'picture' }))).toEqual([400, 'Incorrect request parameters: picture'])
    // Browsers send this for a file field without a file.
    expect(await refused(zipFile(new Uint8Array(), { name: '' }))).toEqual([400, 'Look at the marked fields again.'])
    const [status, problem] = await refused(zipFile(new Uint8Array(9_000_000)))
    expect([status, problem]).toEqual([413, 'These are too many bytes of unfinished uploads.'])
    await eventually(async () => expect(await bytesLeft()).toEqual([]))
    expect((await uploads(id)).filter(({ state }) => state !== 'cancelled')).toEqual([])
    expect((await imports(id)).filter(({ state }) => state !== 'cancelled')).toEqual([])
    expect(await refused(zipFile(Buffer.from('no archive')))).toEqual([200, undefined])
    let { html } = await browser.open(PAGE)
    await eventually(async () => {
      html = (await browser.open(PAGE)).html
      expect(html).toContain('The file is no ZIP archive')
    })
    expect(html).not.toMatch(/Brought in|Here already|Not usable/)
  })

  it('counts for the quota of its user, which the page shows', async () => {
    const { browser, id } = await newcomer(QUOTA)
    const { html } = await browser.open(PAGE)
    expect(html).toContain('a ZIP file of at most 2 MB. That is what your video quota leaves.')
    const { status } = await browser.sendFile(partIn(html, 'import'), zipFile(new Uint8Array(QUOTA + 1)))
    expect(status).toBe(413)
    expect(await imports(id)).toEqual([])
  })

  it('waits for the end of another one', async () => {
    const { browser, id } = person
    const form = await importForm(browser)
    await database.query(
      'insert into user_import (user_id, state, size, context) values ($1, \'processing\', 1, \'{"part":0,"error":null}\')',
      [id],
    )
    const { status, html } = await browser.sendFile(form, zipFile(archive))
    expect(status).toBe(400)
    expect(html).toContain('An import of this user is already being processed.')
    expect(html).toContain('can be uploaded when the latest is done')
  })

  it('is streamed into the store, and removed when the client disconnects', async () => {
    const { browser, id } = person
    const form = await importForm(browser)
    const head = [
      '--edge',
      'content-disposition: form-data; name="token"',
      '',
      form.fields.token ?? '',
      '--edge',
      'content-disposition: form-data; name="part"',
      '',
      'import',
      '--edge',
      'content-disposition: form-data; name="archive"; filename="a.zip"',
      'content-type: application/zip',
      '',
      '',
    ].join('\r\n')
    const { hostname, port, host } = new URL(node.base)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    socket.write(
      [
        `POST ${PAGE} HTTP/1.1`,
        `host: ${host}`,
        `origin: ${node.base}`,
        'sec-fetch-site: same-origin',
        `cookie: ${cookie}`,
        'content-type: multipart/form-data; boundary=edge',
        'content-length: 5000000',
        '',
        head,
      ].join('\r\n'),
    )
    socket.write(Buffer.alloc(1_000_000))
    await eventually(async () => {
      expect(await uploads(id)).toEqual([{ state: 'created', lease_owner: expect.any(String) }])
      expect(await bytesLeft()).toHaveLength(1)
    })
    socket.destroy()
    await eventually(async () => {
      expect(await bytesLeft()).toEqual([])
      expect(await uploads(id)).toEqual([{ state: 'cancelled', lease_owner: null }])
      expect(await imports(id)).toMatchObject([{ state: 'cancelled' }])
    })
  })
})

describe('an archive of the user', () => {
  it('contains the video files if they fit, as its page says', async () => {
    const { browser, id } = await newcomer()
    expect((await browser.open(PAGE)).html).toContain('With the files of your videos (0 bytes of the 1 MB')
    const channel = `(select c.id from channel c join account a on a.id = c.account_id where a.user_id = ${id})`
    await database.query(
      `with made as (insert into video (uuid, name, channel_id, privacy, state, url, duration)
         values (gen_random_uuid(), 'large', ${channel}, 3, 'published', 'http://x.example/' || gen_random_uuid(), 1) returning id)
       insert into video_source (video_id, input_filename, size, kept_filename) select id, 'a.mp4', 5000000, 'a.mp4' from made`,
    )
    const { html } = await browser.open(PAGE)
    expect(html).toContain('left out: they take 5 MB, and an archive of this server has at most 1 MB of them')
    const form = partIn(html, 'export')
    expect(form.fields).not.toHaveProperty('withVideoFiles')
    const made = await browser.send(form, { withVideoFiles: 'true' })
    expect(made.status).toBe(200)
    const { rows } = await database.query('select with_video_files from user_export where user_id = $1', [id])
    expect(rows).toEqual([{ with_video_files: false }])
  })

  it('is downloaded by its user, and deleted', async () => {
    const { browser } = await newcomer()
    const page = await browser.open(PAGE)
    const form = partIn(page.html, 'export')
    const requested = await browser.send(form)
    expect(requested.path).toBe(`${PAGE}?done=export`)
    expect((await browser.send(form)).status).toBe(400)
    let html = ''
    await eventually(async () => {
      html = (await browser.open(PAGE)).html
      expect(html).toContain('Download</a>')
    })
    // The link does not expire, since its target is signed for a short time.
    const [download = ''] = linksIn(html, 'Download')
    expect(download).toMatch(/^\/my-account\/import-export\/download\?id=\d+$/)
    const downloaded = await browser.open(download)
    expect(downloaded).toMatchObject({ status: 200, path: expect.stringMatching(/^\/download\/user-exports\/.*jwt=/) })
    expect(downloaded.html.slice(0, 2)).toBe('PK')
    const stranger = (await newcomer()).browser
    for (const path of [download, `${PAGE}/download`, `${PAGE}/download?id=x`, `${PAGE}/download?id=1&id=2`])
      expect((await stranger.open(path)).path).toBe(PAGE)
    expect((await makeBrowser(node.base).open(download)).path).toMatch(/^\/login/)
    const custom = await root.get<{ export: { users: object } }>('/api/v1/config/custom')
    const off = { export: { users: { ...custom.export.users, enabled: false } } }
    await root.send('PUT', '/api/v1/config/custom', { ...custom, ...off })
    expect((await browser.open(download)).html).toContain('This server does not export archives.')
    expect(linksIn((await browser.open(PAGE)).html, 'Download')).toEqual([])
    await root.send('PUT', '/api/v1/config/custom', custom)
    const remote = partIn((await stranger.open(PAGE)).html, 'export')
    const removal = partIn(html, 'exports')
    const act = /name="act" value="([^"]*)"/.exec(html)?.[1] ?? ''
    const foreign = { ...removal, fields: { ...removal.fields, token: remote.fields.token ?? '' } }
    await stranger.send(foreign, { act, ...SURE })
    expect(linksIn((await browser.open(PAGE)).html, 'Download')).toHaveLength(1)
    expect(linksIn((await browser.send(removal, { act, ...SURE })).html, 'Download')).toEqual([])
  })
})

it('sends each response once, and logs the upload', async () => {
  const { browser } = await newcomer()
  for (const path of ['/c/root_channel/videos', '/a/root', '/@root', '/a/nobody', '/my-account/settings', PAGE]) {
    await browser.open(path)
  }
  expect(logged.filter((line) => line.includes('FST_ERR_REP_ALREADY_SENT'))).toEqual([])
})
