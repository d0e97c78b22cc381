// In a real browser: a person finds a video on the home page, watches it, opens the channel, and subscribes by handle from another
// node.

import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { LONG } from '../federation/nodes.ts'
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
/** Of somebody else. */
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
}, 60_000)
afterAll(async () => {
  await chromium?.close()
  await new Promise((resolve) => site?.close(resolve))
  await Promise.all([near?.stop(), far?.stop()])
})

describe('a person with a browser', () => {
  it('finds a video, watches it, opens its channel and subscribes from another node', async () => {
    const maker = await newcomer(near, 'heron_friend')
    const bytes = await readFile(await media('journey.mp4'))
    const video = await uploadBy(maker, bytes, { name: 'A heron', waitTranscoding: 'true' })
    const state = () => near.query<{ state: string }>('select state from video where id = $1', [video.id])
    await until(async () => (await state())[0]?.state === 'published', { what: 'the published video', ...LONG })

    const { page, complaints } = await chromium.person()
    await page.goto(near.base)
    await page.getByRole('link', { name: 'A heron' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'A heron' }).waitFor()
    await page.getByRole('button', { name: 'Play A heron' }).click()
    // Played to its end, sound and picture.
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
    await until(async () => (await views())[0]?.views === 1, { what: 'the counted view', ...LONG })

    await page.getByRole('link', { name: 'Subscribe to' }).click()
    await page.waitForURL('**/c/heron_friend_channel**')
    await page.getByText('Subscribe', { exact: true }).first().click()
    await page.getByLabel(/handle/i).fill(`@reader@${far.host}`)
    await page.getByRole('button', { name: 'Subscribe', exact: true }).click()

    // On their own node.
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
    await until(async () => (await followers()).length === 1, { what: 'the follow', ...LONG })
    expect(complaints()).toEqual([])
  }, 120_000)

  it('plays an embed in the frame of another site, from where its address says', async () => {
    const maker = await newcomer(near, 'embedded')
    const bytes = await readFile(await media('journey.mp4'))
    const video = await uploadBy(maker, bytes, { name: 'In a frame', waitTranscoding: 'true' })
    const state = () => near.query<{ state: string }>('select state from video where id = $1', [video.id])
    await until(async () => (await state())[0]?.state === 'published', { what: 'the published video', ...LONG })

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
    await until(async () => (await at()) > 1, { what: 'the beginning', ...LONG })
    await until(async () => (await isPaused()) && (await at()) >= 2.9, { what: 'the end', ...LONG })
    expect(await at()).toBeLessThan(3.6)
    expect(await frame.getByText('In a frame').count()).toBe(0)
    expect(complaints()).toEqual([])
  }, 120_000)
})
