// The player in a real browser: its time bar with chapters and pictures, theatre mode, picture in picture, keys, and sharing from a time on.

import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { type FederatedNode, startFederatedNode } from '../federation/support.ts'
import { violationsOf } from '../support/axe.ts'
import { type Chromium, type Person, startChromium } from '../support/chromium.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'

const HOUR_S = 3600
const CHAPTERS = [
  { timecode: 0, title: 'Standing' },
  { timecode: 600, title: 'Fishing' },
  { timecode: 2400, title: 'Flying home over the lake' },
]
const TELEPHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }
/** A folder for pictures of the player. */
const { VIREO_TEST_SCREENSHOTS: pictures } = process.env

let node: FederatedNode
let chromium: Chromium
let uuid: string
let plain: string
let visitor: Person
let page: Page
beforeAll(async () => {
  ;[node, chromium] = await Promise.all([
    startFederatedNode({ transcoding: { enabled: false }, storyboards: { enabled: true } }),
    startChromium(),
  ])
  const fields = { name: 'A heron', description: 'Look at 30:00.' }
  ;({ uuid } = await node.upload(await readFile(await media('hour.mp4')), fields))
  await node.client.send('PUT', `/api/v1/videos/${uuid}/chapters`, { chapters: CHAPTERS })
  plain = (await node.upload(await readFile(await media('small.mp4')), { name: 'A stork' })).uuid
  await until(async () => (await node.query('select 1 from storyboard')).length === 2, { what: 'the storyboards' })
  await node.query('delete from storyboard s using video v where v.id = s.video_id and v.uuid = $1', [plain])
  if (pictures) await mkdir(pictures, { recursive: true })
})
afterAll(async () => {
  await chromium?.close()
  await node?.stop()
})
beforeEach(async () => {
  visitor = await chromium.person()
  page = visitor.page
})

/** Starts the player, and pauses it. */
async function begin(path: string, on: Page = page): Promise<void> {
  await on.goto(node.base + path)
  await on.getByRole('button', { name: /^Play / }).click()
  await on.waitForFunction(() => (document.querySelector('video')?.currentTime ?? 0) > 0)
  await on.evaluate(() => document.querySelector('video')?.pause())
}

const at = () => page.locator('video').evaluate((video: HTMLVideoElement) => video.currentTime)
const reaches = (seconds: number, within = 1) =>
  until(async () => Math.abs((await at()) - seconds) <= within, { what: `the position ${seconds}` })
const slider = (on: Page = page) => on.getByRole('slider', { name: 'Position' })
const hint = (on: Page = page) => on.locator('.hint')
const valueText = () => slider().getAttribute('aria-valuetext')
/** As the browser understands it, without units. */
const pictureIn = (selector: string) =>
  page
    .locator(selector)
    .first()
    .evaluate((element: HTMLElement) => {
      const { backgroundPosition, width } = element.style
      const [x = 0, y = 0] = backgroundPosition.split(' ').map((side) => -Number.parseFloat(side))
      const wide = Number.parseFloat(width)
      const high = Number.parseFloat(element.style.height)
      return { column: Math.abs(Math.round(x / wide)), row: Math.abs(Math.round(y / high)), wide: element.clientWidth }
    })

describe('the time bar', () => {
  it('shows the chapters and the position, and seeks when clicked', async () => {
    await page.goto(`${node.base}/w/${uuid}`)
    expect(await slider().count()).toBe(0)
    await begin(`/w/${uuid}`)
    const edges = await page.locator('.times i').evaluateAll((all) => all.map((edge) => (edge as HTMLElement).style.left))
    expect(edges.map(Number.parseFloat)).toEqual([expect.closeTo(100 / 6), expect.closeTo(200 / 3)])
    expect(await page.locator('.now').textContent()).toBe('0:00 · Standing')
    const { width = 0 } = (await slider().boundingBox()) ?? {}
    await slider().click({ position: { x: width / 2, y: 10 } })
    const pixel = HOUR_S / width
    await reaches(HOUR_S / 2, 2 * pixel)
    await page.locator('.now', { hasText: /^(29:5\d|30:0\d) · Fishing$/ }).waitFor()
    const done = await page.locator('.track').evaluate((track) => track.style.getPropertyValue('--done'))
    expect(Number.parseFloat(done)).toBeCloseTo(50, 0)
    expect(visitor.complaints()).toEqual([])
  })

  it('shows the picture, time and chapter under the pointer, without seeking', async () => {
    await begin(`/w/${uuid}`)
    await page.locator('video').hover()
    expect(await hint().isVisible()).toBe(false)
    const { width = 0 } = (await slider().boundingBox()) ?? {}
    await slider().hover({ position: { x: width * 0.9, y: 10 } })
    expect(await hint().textContent()).toMatch(/^5[34]:\d\d · Flying home over the lake$/)
    // 30 s for each picture, 11 in a row.
    const [, minutes = 0, seconds = 0] = /^(\d+):(\d+)/.exec((await hint().textContent()) ?? '')?.map(Number) ?? []
    const index = Math.floor((minutes * 60 + seconds) / 30)
    expect(await pictureIn('.hint .preview')).toEqual({ column: index % 11, row: Math.floor(index / 11), wide: 160 })
    expect(await at()).toBeLessThan(60)
    const [inside, outside] = await Promise.all([hint().boundingBox(), page.locator('.player').boundingBox()])
    expect((inside?.x ?? 0) + (inside?.width ?? 0)).toBeLessThanOrEqual((outside?.x ?? 0) + (outside?.width ?? 0))
    await page.locator('h1').hover()
    expect(await hint().isVisible()).toBe(false)
  })

  it('is a slider for the keyboard', async () => {
    await begin(`/w/${uuid}?start=700`)
    await reaches(700, 2)
    await slider().focus()
    const from = await at()
    await page.keyboard.press('ArrowRight')
    await hint().waitFor()
    await reaches(from + 5)
    expect(await valueText()).toMatch(/^11:4\d · Fishing$/)
    await page.keyboard.press('ArrowLeft')
    await reaches(from)
    await page.keyboard.press('End')
    await reaches(HOUR_S, 2)
    expect(await valueText()).toBe('1:00:00 · Flying home over the lake')
    await page.keyboard.press('Home')
    await reaches(0)
    expect(await valueText()).toBe('0:00 · Standing')
    expect(await slider().getAttribute('max')).toBe(String(HOUR_S))
  })

  it('answers to fingers', async () => {
    const { page: small } = await chromium.person(TELEPHONE)
    page = small
    await begin(`/w/${uuid}`)
    const box = await slider().boundingBox()
    if (!box) throw new Error('no slider')
    await small.touchscreen.tap(box.x + box.width * 0.75, box.y + box.height / 2)
    // It is hidden again after a while.
    await hint().getByText('Flying home').waitFor()
    await reaches(HOUR_S * 0.75, (4 * HOUR_S) / box.width)
  })

  it('is there in embeds, and not for videos without chapters and storyboard', async () => {
    await begin(`/videos/embed/${uuid}`)
    expect(await slider().isVisible()).toBe(true)
    await expect(page.getByRole('button', { name: 'Theatre mode' }).count()).resolves.toBe(0)
    const [bar, view] = [await page.locator('.times').boundingBox(), page.viewportSize()]
    expect((bar?.y ?? 0) + (bar?.height ?? 0)).toBeLessThanOrEqual(view?.height ?? 0)
    await begin(`/w/${plain}`)
    expect(await slider().count()).toBe(0)
    expect(visitor.complaints()).toEqual([])
  })

  it('draws the pictures of the chapters below it as well', async () => {
    await page.goto(`${node.base}/w/${uuid}`)
    const places = await Promise.all([1, 2, 3].map((nth) => pictureIn(`.chapters li:nth-child(${nth}) .preview`)))
    expect(places).toEqual([
      { column: 0, row: 0, wide: 112 },
      { column: 9, row: 1, wide: 112 },
      { column: 3, row: 7, wide: 112 },
    ])
  })
})

describe('theatre mode', () => {
  const button = () => page.getByRole('button', { name: 'Theatre mode' })
  const widths = () =>
    page.evaluate(() => [document.querySelector('.player')?.getBoundingClientRect().width, document.documentElement.clientWidth])

  it('takes the width of the page, by button and key, until it is switched off', async () => {
    await begin(`/w/${uuid}`)
    const [before = 0, whole = 0] = await widths()
    expect(before).toBeLessThan(whole - 20)
    await page.locator('.player').hover()
    await button().click()
    expect(await button().getAttribute('aria-pressed')).toBe('true')
    expect(await widths()).toEqual([whole, whole])
    await page.reload()
    expect(await widths()).toEqual([whole, whole])
    await page.keyboard.press('t')
    expect(await widths()).toEqual([before, whole])
    await page.reload()
    expect(await widths()).toEqual([before, whole])
    expect(visitor.complaints()).toEqual([])
  })
})

it('offers picture in picture where the browser can', async () => {
  await begin(`/w/${uuid}`)
  const isEnabled = await page.evaluate(() => document.pictureInPictureEnabled)
  await page.locator('.player').hover()
  expect(await page.getByRole('button', { name: 'Picture in picture' }).isVisible()).toBe(isEnabled)
})

describe('sharing', () => {
  const link = () => page.getByLabel('Link', { exact: true }).inputValue()
  const code = () => page.locator('.share textarea').inputValue()

  it('begins at the position of the player, or at a time that is typed', async () => {
    await begin(`/w/${uuid}?start=700`)
    await reaches(700, 2)
    await page.getByText('Share', { exact: true }).click()
    expect(await link()).not.toContain('start')
    const time = page.getByLabel('Time')
    await until(async () => /^11:4\d$/.test(await time.inputValue()), { what: 'the time of the player' })
    await page.getByLabel('Start at').check()
    expect(await link()).toMatch(/\/w\/\w+\?start=70\d$/)
    expect(await code()).toMatch(/ src="[^"]*\/videos\/embed\/[\w-]+\?start=70\d" /)
    await time.fill('1:02')
    expect([await link(), await code()]).toEqual([expect.stringMatching(/\?start=62$/), expect.stringContaining('?start=62"')])
    await time.fill('soon')
    expect(await link()).not.toContain('start')
    await page.locator('video').evaluate((video: HTMLVideoElement) => {
      video.currentTime = 3000
    })
    await until(async () => (await link()).endsWith('?start=3000'), { what: 'the new position' })
    await page.getByLabel('Start at').uncheck()
    expect([await link(), await code()]).toEqual([expect.not.stringContaining('start'), expect.not.stringContaining('start')])
  })

  it('is plain without scripts, and no keys are listed', async () => {
    const { page: bare } = await chromium.person({ javaScriptEnabled: false })
    await bare.goto(`${node.base}/w/${uuid}`)
    await bare.getByText('Share', { exact: true }).click()
    expect(await bare.getByLabel('Link', { exact: true }).inputValue()).toMatch(/\/w\/\w+$/)
    expect(await bare.getByLabel('Start at').isVisible()).toBe(false)
    expect(await bare.getByText('Keyboard shortcuts').isVisible()).toBe(false)
  })
})

it.each<[string, BrowserContextOptions & { dir?: string }]>([
  ['light', {}],
  ['dark', { colorScheme: 'dark' }],
  ['telephone', TELEPHONE],
  ['right-to-left', { dir: 'rtl' }],
  ['right-to-left-telephone', { ...TELEPHONE, dir: 'rtl' }],
])('is accessible and fits: %s', async (name, { dir, ...options }) => {
  const { page: shown, complaints } = await chromium.person(options)
  page = shown
  if (dir) await page.addInitScript(() => addEventListener('DOMContentLoaded', () => document.documentElement.setAttribute('dir', 'rtl')))
  const seen = async (what: string) => {
    const found = await violationsOf(page)
    if (pictures) await page.screenshot({ path: join(pictures, `${name}-${what}.png`), fullPage: what !== 'hint' })
    const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement)
    expect({ what, found, isWide: scrollWidth > clientWidth }).toEqual({ what, found: [], isWide: false })
  }
  await begin(`/w/${uuid}?start=1200`)
  await page.getByText('Keyboard shortcuts').click()
  await page.getByText('Share', { exact: true }).click()
  await seen('page')
  await slider().focus()
  await page.keyboard.press('PageUp')
  await hint().waitFor()
  await seen('hint')
  await page.evaluate(() => document.body.focus())
  await page.locator('.theatre').evaluate((button: HTMLButtonElement) => button.click())
  await seen('theatre')
  await begin(`/videos/embed/${uuid}?start=1200`)
  await slider().focus()
  await page.keyboard.press('PageUp')
  await hint().waitFor()
  await seen('embed')
  expect(complaints()).toEqual([])
})
