// The page of a live in a real browser: it waits for the stream, plays it, shows its end, and waits for the next stream.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { type Client, login } from '../../scripts/demo/client.ts'
import { type Chromium, startChromium } from '../support/chromium.ts'
import { slowness } from '../support/cpu-time.ts'
import { encode, publish } from '../support/live.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { until } from '../support/until.ts'

/** On an idle machine; here other tests run. */
const FIRST_PICTURE_MS = 15_000
const FIRST_SMALL_MS = 10_000
/** Longer than any wait of the test. */
const ENDLESS_S = 600
let node: TestNode
let chromium: Chromium
let root: Client

beforeAll(async () => {
  ;[node, chromium] = await Promise.all([
    startTestNode({ config: { live: { enabled: true }, vireo: { live: { reconnect_window: 0 } } } }),
    startChromium(),
  ])
  root = await login(node.base, node.username, node.password)
})
afterAll(async () => {
  await chromium?.close()
  await node?.stop()
})

async function create(fields: object = {}): Promise<{ uuid: string; url: string }> {
  const me = await root.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const { video } = await root.send<{ video: { id: number; uuid: string } }>('POST', '/api/v1/videos/live', {
    channelId: me.videoChannels[0]?.id,
    name: 'A live',
    privacy: 1,
    permanentLive: true,
    ...fields,
  })
  const { streamKey } = await root.get<{ streamKey: string }>(`/api/v1/videos/live/${video.id}`)
  return { uuid: video.uuid, url: `rtmp://127.0.0.1:${node.server.live.rtmp}/live/${streamKey}` }
}

/** Waits until playback advances. */
async function pictured(page: Page): Promise<void> {
  await page.waitForFunction(
    () => {
      const video = document.querySelector('video')
      return video !== null && video.videoWidth > 0 && video.currentTime > 0.1
    },
    undefined,
    { timeout: 600_000, polling: 50 },
  )
}

const troubleOn = (page: Page) => page.locator('.trouble:visible').textContent()

describe.each([
  ['page', '/w/'],
  ['embed', '/videos/embed/'],
])('the %s of a live', (kind, path) => {
  it('waits for the stream, plays it soon after its start, and shows its end', async () => {
    const live = await create()
    const { page, complaints } = await chromium.person()
    await page.goto(`${node.base}${path}${live.uuid}`)
    expect(await troubleOn(page)).toContain('This live has not begun yet.')
    const began = performance.now()
    const ending = new AbortController()
    const stream = publish(live.url, { seconds: ENDLESS_S, paced: true, signal: ending.signal })
    await pictured(page)
    const after = performance.now() - began
    process.stdout.write(`first picture on the ${kind} ${Math.round(after)} ms after the stream began\n`)
    expect(after).toBeLessThan(FIRST_PICTURE_MS * slowness())
    if (kind === 'page') expect(await page.locator('.facts .live').textContent()).toBe('Live')
    ending.abort('finished')
    await stream
    await page.waitForFunction(
      () => document.querySelector('.player .trouble:not([hidden])')?.textContent === 'This live is over.',
      undefined,
      {
        timeout: 600_000,
      },
    )
    // The next stream starts on the same page.
    const again = new AbortController()
    const next = publish(live.url, { seconds: ENDLESS_S, paced: true, signal: again.signal })
    await pictured(page)
    again.abort('finished')
    await next
    expect(complaints()).toEqual([])
  })
})

it('has less delay with small latency', async () => {
  const live = await create({ latencyMode: 3 })
  const { page } = await chromium.person()
  await page.goto(`${node.base}/w/${live.uuid}`)
  const began = performance.now()
  const ending = new AbortController()
  const stream = publish(live.url, { seconds: ENDLESS_S, paced: true, signal: ending.signal })
  await pictured(page)
  const after = performance.now() - began
  process.stdout.write(`first picture with small latency ${Math.round(after)} ms after the stream began\n`)
  ending.abort('finished')
  expect(after).toBeLessThan(FIRST_SMALL_MS * slowness())
  await stream
})

it('starts on a page about as soon as with ffmpeg alone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-bare-'))
  const { page } = await chromium.person()
  const origin = 'http://bare.example'
  const hls = await readFile(createRequire(import.meta.url).resolve('hls.js/dist/hls.min.js'), 'utf8')
  await page.route(`${origin}/**`, async (route) => {
    const name = basename(new URL(route.request().url()).pathname)
    if (name === '') return await route.fulfill({ contentType: 'text/html', body: '<video muted></video>' })
    const body = await readFile(join(folder, name)).catch(() => undefined)
    await route.fulfill(body ? { body } : { status: 404 })
  })
  await page.goto(`${origin}/`)
  await page.addScriptTag({ content: hls })
  const began = performance.now()
  const stream = encode(['-f', 'hls', '-hls_time', '2', '-hls_list_size', '0', join(folder, 'live.m3u8')], { seconds: 12, paced: true })
  await until(() => readFile(join(folder, 'live.m3u8')).catch(() => undefined), { what: 'the playlist' })
  await page.evaluate(async () => {
    const { Hls } = window as unknown as { Hls: new () => { loadSource(url: string): void; attachMedia(video: unknown): void } }
    const player = new Hls()
    player.loadSource('/live.m3u8')
    const video = document.querySelector('video')
    player.attachMedia(video)
    await video?.play()
  })
  await pictured(page)
  process.stdout.write(`first picture with ffmpeg alone ${Math.round(performance.now() - began)} ms after the stream began\n`)
  await stream
  await rm(folder, { recursive: true })
})
