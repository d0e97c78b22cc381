// In a real browser, 360 px wide and in each language: pages with long names are never wider than their window, and tables keep words whole.

import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { screens } from '../../src/http/pages/screens/screens.ts'
import { type FederatedNode, newcomer, startFederatedNode, uploadBy } from '../federation/support.ts'
import { type Chromium, startChromium } from '../support/chromium.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'

const TELEPHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }
const DESKTOP = { viewport: { width: 1280, height: 800 } }
const LONG = 'Heronsandotherbirdsofthelake'.repeat(5).slice(0, 120)
/** A folder for a picture of each page. */
const { VIREO_TEST_SCREENSHOTS: pictures } = process.env

let node: FederatedNode
let chromium: Chromium
let paths: string[]

beforeAll(async () => {
  ;[node, chromium] = await Promise.all([startFederatedNode({ transcoding: { enabled: false } }), startChromium()])
  const maker = await newcomer(node, 'maker', { role: 0 })
  const { videoChannels } = await maker.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  await maker.send('PUT', '/api/v1/video-channels/maker_channel', { displayName: LONG, description: LONG, support: LONG })
  await maker.send('PUT', '/api/v1/users/me', { displayName: LONG })
  const video = await uploadBy(maker, await readFile(await media('small.mp4')), { name: LONG, description: LONG, tags: LONG.slice(0, 30) })
  const { comment } = await maker.send<{ comment: { id: number } }>('POST', `/api/v1/videos/${video.id}/comment-threads`, { text: LONG })
  const playlist = new FormData()
  const about = { displayName: LONG, privacy: 1, videoChannelId: videoChannels[0]?.id, description: LONG }
  for (const [name, value] of Object.entries(about)) playlist.set(name, String(value))
  const { videoPlaylist } = await maker.send<{ videoPlaylist: { id: number; shortUUID: string } }>(
    'POST',
    '/api/v1/video-playlists',
    playlist,
  )
  await maker.send('POST', `/api/v1/video-playlists/${videoPlaylist.id}/videos`, { videoId: video.id })
  const reader = await newcomer(node, 'r'.repeat(50))
  await reader.send('POST', '/api/v1/users/me/subscriptions', { uri: `maker_channel@${node.host}` })
  const { abuse } = await reader.send<{ abuse: { id: number } }>('POST', '/api/v1/abuses', { reason: LONG, video: { id: video.id } })
  await maker.send('POST', '/api/v1/server/blocklist/servers', { host: `${'h'.repeat(60)}.example` })
  await maker.send('POST', '/api/v1/watched-words/server/lists', { listName: LONG.slice(0, 100), words: [LONG.slice(0, 100)] })
  await node.query(
    "insert into job (type, queue, state, data, finished_at, error) values ('video-transcoding', 'media', 'failed', '{}', now(), $1)",
    [LONG],
  )
  await until(async () => (await node.query("select 1 from video where state <> 'published'")).length === 0, {
    what: 'the published video',
  })
  const { shortUUID } = await maker.get<{ shortUUID: string }>(`/api/v1/videos/${video.uuid}`)
  paths = [
    ...['/', '/videos/browse', `/w/${shortUUID}`, `/w/p/${videoPlaylist.shortUUID}`, '/c/maker_channel/videos', '/a/maker/video-channels'],
    ...['/c/maker_channel/video-playlists', '/search?search=heron', '/about', '/my-account/notifications', '/my-account/settings'],
    ...[`/w/${shortUUID}/take-part`, `/w/${shortUUID}/comments/${comment.id}/${comment.id}`, `/my-library/video-channels/maker_channel`],
    ...['', '/chapters', '/statistics', '/studio', '/source'].map((page) => `/my-library/videos/${shortUUID}${page}`),
    ...[`/my-library/video-playlists/${videoPlaylist.shortUUID}`, `/admin/abuses/${abuse.id}`],
    ...screens.flatMap(({ path }) => (path.includes(':') ? [] : [path])),
  ]
  if (pictures) await mkdir(pictures, { recursive: true })
})
afterAll(async () => {
  await chromium?.close()
  await node?.stop()
})

describe('pages with long names', () => {
  it.each([
    ['en', TELEPHONE],
    ['de', TELEPHONE],
    ['fr', TELEPHONE],
    ['en', DESKTOP],
  ] as const)('fit their window, in %s and %j', async (locale, window) => {
    const { page } = await chromium.person({ ...window, locale })
    await page.goto(`${node.base}/login`)
    await page.locator('#username').fill('maker')
    await page.locator('#password').fill('the password of maker')
    await page.locator('main button.main').click()
    await page.locator('a[href="/logout"]').waitFor()
    const troubles: string[] = []
    for (const path of paths) {
      const status = (await page.goto(node.base + path))?.status()
      const { width, broken } = await measured(page)
      if (status !== 200 || width > window.viewport.width || broken.length > 0) troubles.push(`${path}: ${status}, ${width} px, ${broken}`)
      const name = `${locale}-${window.viewport.width}${path.replaceAll(/\W+/g, '-')}.png`
      if (pictures) await page.screenshot({ path: join(pictures, name), fullPage: true })
    }
    expect(troubles).toEqual([])
    expect(await page.locator('html').getAttribute('lang')).toBe(locale)
  })
})

/** The width of the page (px), and words of its tables that stand on more than one line. */
const measured = (page: Page) =>
  page.evaluate(() => {
    const broken: string[] = []
    for (const cell of document.querySelectorAll('th, td')) {
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        if (text.parentElement?.matches('.away')) continue
        for (const { 0: word, index } of (text.textContent ?? '').matchAll(/(?<!\S)\p{L}{2,20}(?!\S)/gu)) {
          const range = document.createRange()
          range.setStart(text, index)
          range.setEnd(text, index + word.length)
          if (range.getClientRects().length > 1) broken.push(word)
        }
      }
    }
    return { width: document.documentElement.scrollWidth, broken }
  })
