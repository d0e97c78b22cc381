// What is done with the own videos: steps and progress for their owner alone, in the API and on pages.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { listWorkOnVideos } from '../../../src/actors/job-queue/index.ts'
import { makeBrowser } from '../../support/browser.ts'
import { insert, type MadeVideo, makeVideo } from '../../support/builders.ts'
import { tableScans } from '../../support/table-scans.ts'
import { type MailNode, startMailNode } from '../registrations/node.ts'

const PASSWORD = 'a good password'
const PATH = '/vireo/users/me/videos/processing'

let at: MailNode
let own: Record<'maker' | 'other', { token: string; accountId: number; channelId: number }>
let heron: MadeVideo

beforeAll(async () => {
  at = await startMailNode({ config: { transcoding: { enabled: false } } })
  own = { maker: await user('maker'), other: await user('other') }
})
beforeEach(async () => {
  await at.query('delete from job')
  await at.query('delete from video')
  heron = await makeVideo(at, { channelId: own.maker.channelId, columns: { name: 'A heron' } })
})
afterAll(() => at?.stop())

async function user(username: string) {
  const body = { username, password: PASSWORD, email: `${username}@example.com`, role: 2, videoQuota: -1, videoQuotaDaily: -1 }
  await at.ask('POST', '/users', body, at.root)
  const [made] = await at.query<{ accountId: number; channelId: number }>(
    `select a.id as "accountId", c.id as "channelId" from users u join account a on a.user_id = u.id join channel c on c.account_id = a.id
     where u.username = $1`,
    [username],
  )
  if (!made) throw new Error('There is no such user.')
  return { ...made, token: `Bearer ${(await at.token(username, PASSWORD)).body.access_token}` }
}

const transcodingOf = ({ id }: MadeVideo) => insert(at, 'transcoding', { video_id: id, state: 'running' })

/** A job that no worker takes. */
const job = (type: string, data: object, columns: Record<string, unknown> = {}) =>
  insert(at, 'job', {
    type,
    queue: 'media',
    state: 'active',
    data,
    lease_until: '2100-01-01',
    lease_owner: 'a worker',
    due_at: '2100-01-01',
    ...columns,
  })

let serial = 0
const ofRunner = (type: string, data: object, columns: Record<string, unknown>) => {
  serial += 1
  return job(type, data, { uuid: `00000000-0000-4000-8000-${String(serial).padStart(12, '0')}`, ...columns })
}

const listed = async (token: string, query = '') => (await at.ask('GET', `${PATH}${query}`, undefined, token)).body
const named = ({ id, uuid }: MadeVideo) => ({ id, uuid, shortUUID: expect.stringMatching(/^\w{22}$/) })

describe('the list of work on the own videos', () => {
  it('tells which step runs, and how far it is', async () => {
    await job('video-transcoding', { transcodingId: await transcodingOf(heron) }, { progress: 42.5 })
    await job('generate-video-storyboard', { videoId: heron.id }, { state: 'waiting' })
    await job(
      'video-transcoding',
      { transcodingId: await transcodingOf(heron) },
      { state: 'completed', progress: 100, finished_at: new Date() },
    )
    await job('email', {}, {})
    expect(await listed(own.maker.token)).toEqual({
      total: 2,
      data: [
        { video: named(heron), step: 'transcoding', state: 'running', progress: 42.5 },
        { video: named(heron), step: 'storyboard', state: 'waiting', progress: 0 },
      ],
    })
    expect(await listed(own.maker.token, '?start=1&count=1')).toMatchObject({ total: 2, data: [{ step: 'storyboard' }] })
    expect(await listed(own.other.token)).toEqual({ total: 0, data: [] })
    expect((await at.ask('GET', PATH)).status).toBe(401)
    expect((await at.ask('GET', `${PATH}?count=101`, undefined, own.maker.token)).status).toBe(400)
  })

  it('takes the jobs of several runners together, also those that are done', async () => {
    const data = { transcodingId: await transcodingOf(heron), videoId: heron.id }
    await ofRunner('vod-hls-transcoding', data, { state: 'completed', progress: 100, finished_at: new Date() })
    await ofRunner('vod-hls-transcoding', data, { state: 'processing', progress: 50 })
    await ofRunner('vod-web-video-transcoding', data, { state: 'waiting-for-parent' })
    await ofRunner('vod-hls-transcoding', data, { state: 'cancelled', progress: 80, finished_at: new Date() })
    expect(await listed(own.maker.token)).toEqual({
      total: 1,
      data: [{ video: named(heron), step: 'transcoding', state: 'running', progress: 50 }],
    })
  })

  it('finds videos by editions and imports', async () => {
    const coot = await makeVideo(at, { channelId: own.maker.channelId })
    const editionId = await insert(at, 'video_edition', { video_id: heron.id })
    await job('video-studio-edition', { editionId }, { progress: 10 })
    const [{ id: userId = 0 } = {}] = await at.query<{ id: number }>("select id from users where username = 'maker'")
    const importId = await insert(at, 'video_import', {
      user_id: userId,
      video_id: coot.id,
      target_url: 'https://a.example/v',
      fields: {},
      state: 'processing',
    })
    await job('video-import', { importId }, { progress: 20 })
    expect((await listed(own.maker.token)).data).toEqual([
      { video: named(coot), step: 'import', state: 'running', progress: 20 },
      { video: named(heron), step: 'editing', state: 'running', progress: 10 },
    ])
  })

  it('reads no jobs that are over', async () => {
    await at.query(`insert into job (type, queue, state, data, finished_at)
      select 'video-transcoding', 'media', 'completed', jsonb_build_object('transcodingId', n), now() from generate_series(1, 5000) n`)
    await job('video-transcoding', { transcodingId: await transcodingOf(heron) })
    await at.query('analyze job')
    let asked: { text: string; values: readonly unknown[] } = { text: '', values: [] }
    await listWorkOnVideos(
      {
        async query(text, values = []) {
          asked = { text, values }
          return []
        },
      },
      { accountId: own.maker.accountId, start: 0, count: 100 },
    )
    const scans = await tableScans(at, 'job', asked.text, asked.values)
    expect(scans.length).toBeGreaterThan(0)
    for (const { node, rows } of scans)
      expect({ node, isFew: rows < 10 }).toEqual({ node: expect.not.stringContaining('Seq'), isFew: true })
  })
})

describe('the pages of the own videos', () => {
  it('show the step and its progress, and look again', async () => {
    const browser = makeBrowser(at.node.base)
    await browser.login('maker', PASSWORD)
    await at.query("update video set state = 'to-transcode' where id = $1", [heron.id])
    const page = async () => (await browser.open('/my-library/videos')).html
    expect(await page()).toContain('<td><span data-progress>To transcode</span></td>')
    const id = await job('video-transcoding', { transcodingId: await transcodingOf(heron) }, { progress: 42.7 })
    expect(await page()).toContain('<td> <span data-progress>Transcoding, 42 %</span></td>')
    const edit = (await browser.open(`/my-library/videos/${heron.uuid}`)).html
    expect(edit).toContain('<bdi>A heron</bdi></strong>:  <span data-progress>Transcoding, 42 %</span>.')
    // It can be watched already.
    await at.query("update video set state = 'published' where id = $1", [heron.id])
    expect(await page()).toContain('<td><span>Published</span> <span data-progress>Transcoding, 42 %</span></td>')
    expect((await browser.open('/my-library/videos', { cookie: cookieIn(browser, 'de') })).html).toContain('Transkodierung, 42 %')
    await at.query("update job set state = 'waiting' where id = $1", [id])
    expect(await page()).toContain('<td><span>Published</span> <span data-progress>Transcoding, waiting</span></td>')
    await at.query("update job set state = 'completed', progress = 100 where id = $1", [id])
    expect(await page()).not.toContain('data-progress')
  })
})

const cookieIn = ({ cookies }: { cookies: Map<string, string> }, language: string): string =>
  [...cookies, ['vireo-language', language]].map((pair) => pair.join('=')).join('; ')
