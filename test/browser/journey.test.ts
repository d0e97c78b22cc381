// In a real browser: a visitor finds a video on the home page, watches it, opens its channel, and subscribes by handle from another node.

import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type FederatedNode, newcomer, startFederatedNode, uploadBy } from '../federation/support.ts'
import { type Chromium, startChromium } from '../support/chromium.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'

const SOON = { initial_backoff: '50 ms', max_backoff: '100 ms' }
const federation = { delivery: SOON, inbox: SOON }
const transcoding = {
  enabled: true,
  web_videos: { enabled: false },
  hls: { enabled: true, split_audio_and_video: true },
  resolutions: { '240p': true, '360p': true },
}
const PASSWORD = 'the password of reader'

let near: FederatedNode
let far: FederatedNode
let chromium: Chromium
/** An embed on a page of another site. */
let site: Server

beforeAll(async () => {
  ;[near, far, chromium] = await Promise.all([
    startFederatedNode({ transcoding, vireo: { federation } }),
    startFederatedNode({ vireo: { federation } }),
    startChromium(),
  ])
  site = createServer()
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  await newcomer(far, 'reader')
})
afterAll(async () => {
  await chromium?.close()
  await new Promise((resolve) => site?.close(resolve))
  await Promise.all([near?.stop(), far?.stop()])
})

describe('a visitor with a browser', () => {
  it('finds a video, watches it, opens its channel and subscribes from another node', async () => {
    const maker = await newcomer(near, 'heron_friend')
    const bytes = await readFile(await media('journey.mp4'))
    const video = await uploadBy(maker, bytes, { name: 'A heron', waitTranscoding: 'true' })
    const state = () => near.query<{ state: string }>('select state from video where id = $1', [video.id])
    await until(async () => (await state())[0]?.state === 'published', { what: 'the published video' })

    const { page, complaints } = await chromium.person()
    await page.goto(near.base)
    await page.getByRole('link', { name: 'A heron' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'A heron' }).waitFor()
    await page.getByRole('button', { name: 'Play A heron' }).click()
    // Played to its end, with audio and video.
    await page.waitForFunction(() => {
      const player = document.querySelector('video')
      return player?.ended && player.videoWidth > 0
    })
    const views = () =>
      near.query<{ views: number }>(
        `select v.views + coalesce((select sum(d.views) from video_delta d where d.video_id = v.id), 0)::int as views
         from video v where v.id = $1`,
        [video.id],
      )
    await until(async () => (await views())[0]?.views === 1, { what: 'the counted view' })

    await page.getByRole('link', { name: 'Subscribe to' }).click()
    await page.waitForURL('**/c/heron_friend_channel**')
    await page.getByText('Subscribe', { exact: true }).first().click()
    await page.getByLabel(/handle/i).fill(`@reader@${far.host}`)
    await page.getByRole('button', { name: 'Subscribe', exact: true }).click()

    // On the visitor's home node.
    await page.waitForURL(`${far.base}/login?*`)
    await page.getByLabel('User name').fill('reader')
    await page
      .getByLabel(/password/i)
      .first()
      .fill(PASSWORD)
    await page.getByRole('main').getByRole('button', { name: 'Log in' }).click()
    await page.waitForURL((url) => decodeURIComponent(url.pathname).includes(`heron_friend_channel@${near.host}`))
    await page.getByRole('button', { name: /^subscribe/i }).click()
    await page.getByRole('button', { name: /^unsubscribe/i }).waitFor()
    const followers = () =>
      near.query("select 1 from follow f join actor x on x.id = f.follower_id where x.host_id is not null and f.state = 'accepted'")
    await until(async () => (await followers()).length === 1, { what: 'the follow' })
    expect(complaints()).toEqual([])
  })

  it('administers a server: follows another one, sees its video, and mirrors it', async () => {
    const { page, complaints } = await chromium.person()
    await page.goto(`${far.base}/login`)
    await page.getByLabel('User name').fill(far.node.username)
    await page
      .getByLabel(/password/i)
      .first()
      .fill(far.node.password)
    await page.getByRole('main').getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Set up your server' }).waitFor()
    await page.goto(`${far.base}/admin/follows/following`)
    await page.getByRole('textbox', { name: 'Servers' }).fill(near.host)
    await page.getByRole('button', { name: 'Follow', exact: true }).click()
    await page.getByText('The servers are asked.').waitFor()
    const accepted = () =>
      far.query("select 1 from follow f join actor x on x.id = f.target_id where x.type = 'Application' and f.state = 'accepted'")
    await until(async () => (await accepted()).length === 1, { what: 'the accepted follow' })

    const maker = await newcomer(near, 'mirrored')
    const bytes = await readFile(await media('journey.mp4'))
    await uploadBy(maker, bytes, { name: 'A heron elsewhere', waitTranscoding: 'true' })
    await until(async () => (await far.query("select 1 from video where name = 'A heron elsewhere'")).length === 1, { what: 'the video' })
    await page.goto(`${far.base}/videos/browse`)
    await page.getByRole('link', { name: 'A heron elsewhere' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'A heron elsewhere' }).waitFor()
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    await page.goto(`${far.base}/admin/redundancy`)
    await page.getByRole('textbox', { name: 'Video' }).fill(id)
    await page.getByRole('button', { name: 'Mirror', exact: true }).click()
    await page.getByText('The video will be copied.').waitFor()
    await until(
      async () => {
        await page.reload()
        return await page.getByRole('table').getByRole('link', { name: 'A heron elsewhere' }).isVisible()
      },
      { what: 'the copy' },
    )
    expect(complaints()).toEqual([])
  })

  it('plays an embed in a frame of another site, from the start time of its URL', async () => {
    const maker = await newcomer(near, 'embedded')
    const bytes = await readFile(await media('journey.mp4'))
    const video = await uploadBy(maker, bytes, { name: 'In a frame', waitTranscoding: 'true' })
    const state = () => near.query<{ state: string }>('select state from video where id = $1', [video.id])
    await until(async () => (await state())[0]?.state === 'published', { what: 'the published video' })

    const { page, complaints } = await chromium.person()
    const src = `${near.base}/videos/embed/${video.uuid}?autoplay=1&muted=1&start=1&stop=3&title=0`
    site.removeAllListeners('request').on('request', (_request, response) => {
      response
        .setHeader('content-type', 'text/html')
        .end(`<title>Elsewhere</title><link rel="icon" href="data:,"><iframe width="640" height="360" allow="autoplay" src="${src}">`)
    })
    const address = site.address()
    await page.goto(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`)
    const frame = page.frameLocator('iframe')
    const at = () => frame.locator('video').evaluate((player: HTMLVideoElement) => player.currentTime)
    const isPaused = () => frame.locator('video').evaluate((player: HTMLVideoElement) => player.paused)
    await until(async () => (await at()) > 1, { what: 'the beginning' })
    await until(async () => (await isPaused()) && (await at()) >= 2.9, { what: 'the end' })
    expect(await at()).toBeLessThan(3.6)
    // It has a heading for screen readers only.
    expect(await frame.getByText('In a frame').and(frame.locator(':not(.away)')).count()).toBe(0)
    expect(await frame.locator('h1.away').textContent()).toBe('In a frame')
    expect(complaints()).toEqual([])
  })
})
