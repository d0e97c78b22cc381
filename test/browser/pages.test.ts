// Every page in a real browser, for visitors and users, found by following all links from a few starting points. No page has errors, is
// too heavy, is too wide for a phone, or violates accessibility rules, and each has the same content without scripts.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { type FederatedNode, newcomer, startFederatedNode, uploadBy } from '../federation/support.ts'
import { violationsOf } from '../support/axe.ts'
import { type Chromium, type Person, startChromium } from '../support/chromium.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'

const MAX_BYTES = 100_000
const TELEPHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }
const DARK: BrowserContextOptions = { colorScheme: 'dark' }
/** More than there are, so that the crawl ends. */
const MAX_PAGES = 120
const PASSWORD = 'the password of maker'
/** Screens with the longest words. */
const SCREENS = ['/videos/upload', '/my-library/videos', '/my-library/comments', '/my-account/profile', '/my-account/application-tokens']

let node: FederatedNode
let chromium: Chromium
let beginnings: string[]
let own: string[]

beforeAll(async () => {
  ;[node, chromium] = await Promise.all([
    startFederatedNode({
      transcoding: { enabled: true, resolutions: { '240p': true } },
      signup: { enabled: true, requires_approval: true },
      instance: { description: 'A **lake**', terms: 'Be kind.', name: 'Lake' },
      // Nothing listens there.
      smtp: { hostname: '127.0.0.1', port: 9, from_address: 'video@example.org' },
    }),
    startChromium(),
  ])
  const maker = await newcomer(node, 'maker')
  const bytes = await readFile(await media('small.mp4'))
  const fields = { description: '# About\n\nA [link](https://example.org), **bold**.', support: 'Thanks', tags: 'bird' }
  const open = await uploadBy(maker, bytes, {
    name: 'A heron',
    ...fields,
    language: 'en',
    category: '15',
    licence: '1',
  })
  const hidden = await uploadBy(maker, bytes, { name: 'A private heron', privacy: '3' })
  const locked = await uploadBy(maker, bytes, { name: 'A locked heron', privacy: '5', 'videoPasswords[]': 'open sesame' })
  const sensitive = await uploadBy(maker, bytes, { name: 'A sensitive heron', nsfw: 'true' })
  await maker.send('POST', `/api/v1/videos/${open.id}/comment-threads`, { text: 'How **tall** it is!' })
  await maker.send('PUT', `/api/v1/videos/${open.id}/chapters`, { chapters: [{ timecode: 0, title: 'Standing' }] })
  const { videoChannels } = await maker.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const playlist = new FormData()
  for (const [name, value] of Object.entries({
    displayName: 'Birds',
    privacy: 1,
    videoChannelId: videoChannels[0]?.id,
  }))
    playlist.set(name, String(value))
  const { videoPlaylist } = await maker.send<{ videoPlaylist: { id: number; shortUUID: string } }>(
    'POST',
    '/api/v1/video-playlists',
    playlist,
  )
  await maker.send('POST', `/api/v1/video-playlists/${videoPlaylist.id}/videos`, { videoId: open.id })
  const waiting = () => node.query("select 1 from video where state <> 'published'")
  await until(async () => (await waiting()).length === 0, { what: 'the published videos' })

  beginnings = [
    '/',
    `/videos/watch/${open.uuid}`,
    `/videos/watch/${open.uuid}?start=1s`,
    `/videos/watch/${locked.uuid}`,
    `/videos/watch/${sensitive.uuid}`,
    `/videos/watch/${hidden.uuid}`,
    `/videos/embed/${open.uuid}`,
    `/videos/embed/${locked.uuid}`,
    `/videos/embed/${open.uuid}?controls=0&title=0`,
    `/w/p/${videoPlaylist.shortUUID}`,
    `/video-playlists/embed/${videoPlaylist.shortUUID}`,
    '/c/maker_channel',
    '/a/maker',
    '/c/nobody',
    '/search?search=heron&type=channels',
    '/search?search=nothing-like-it',
    '/about/instance',
    '/about/contact',
    '/signup',
    '/login/ask-reset-password',
    '/reset-password?userId=1&verificationString=x',
    '/verify-account/email?userId=1&verificationString=x',
    `/remote-interaction?uri=${encodeURIComponent(`${node.base}/video-channels/nobody`)}`,
    '/admin/overview',
    '/nothing/here',
  ]
  own = [
    '/',
    `/videos/watch/${open.uuid}`,
    `/videos/watch/${hidden.uuid}`,
    '/c/root_channel',
    '/videos/subscriptions',
    '/my-account/settings',
    '/my-account/notifications',
    '/my-account/import-export',
    '/logout',
  ]
})
afterAll(async () => {
  await chromium?.close()
  await node?.stop()
})

describe('the pages', () => {
  it('have no faults for visitors', async () => {
    const found = await walk(await chromium.person(), beginnings)
    expect(found.troubles).toEqual([])
    // All kinds of pages for visitors.
    for (const kind of [/^\/videos\/browse/, /^\/search/, /^\/c\/.*video-playlists/, /^\/a\/.*about/, /^\/login/, /^\/signup/])
      expect(found.paths.filter((path) => kind.test(path))).not.toEqual([])
  })

  it('have no faults for users', async () => {
    const person = await chromium.person()
    await logIn(person.page)
    const { troubles } = await walk(person, own)
    expect(troubles).toEqual([])
  })

  it('fit on phones', async () => {
    const visitor = await chromium.person(TELEPHONE)
    const owner = await chromium.person(TELEPHONE)
    await logIn(owner.page)
    expect([...(await tooWide(visitor, beginnings)), ...(await tooWide(owner, own))]).toEqual([])
  })

  it.each(['de', 'fr'])('fit on phones in the language %s', async (language) => {
    const visitor = await chromium.person({ ...TELEPHONE, locale: language })
    const owner = await chromium.person({ ...TELEPHONE, locale: language })
    await logIn(owner.page)
    expect([...(await tooWide(visitor, beginnings)), ...(await tooWide(owner, [...own, ...SCREENS]))]).toEqual([])
    expect(await owner.page.locator('html').getAttribute('lang')).toBe(language)
  })

  it('fit on phones in right-to-left languages', async () => {
    const visitor = await chromium.person(TELEPHONE)
    const owner = await chromium.person(TELEPHONE)
    await logIn(owner.page)
    for (const { page } of [visitor, owner])
      await page.addInitScript(() => addEventListener('DOMContentLoaded', () => document.documentElement.setAttribute('dir', 'rtl')))
    expect([...(await tooWide(visitor, beginnings)), ...(await tooWide(owner, [...own, ...SCREENS]))]).toEqual([])
    expect(await owner.page.evaluate(() => getComputedStyle(document.body).direction)).toBe('rtl')
  })

  it('are readable in dark mode', async () => {
    const visitor = await chromium.person(DARK)
    const owner = await chromium.person(DARK)
    await logIn(owner.page)
    expect([...(await unusable(visitor, beginnings)), ...(await unusable(owner, own))]).toEqual([])
  })

  it('keep what is typed while something is under way', async () => {
    const { page } = await chromium.person()
    await logIn(page)
    await page.clock.install()
    const [row] = await node.query<{ uuid: string }>(
      "update video set state = 'to-transcode' where name = 'A private heron' returning uuid",
    )
    await page.goto(`${node.base}/my-library/videos/${row?.uuid}`)
    await page.locator('[data-progress]').first().waitFor()
    await page.getByLabel('Description').fill('Typed meanwhile')
    await page.getByRole('heading', { level: 1 }).click()
    await page.clock.runFor(30_000)
    expect(await page.getByLabel('Description').inputValue()).toBe('Typed meanwhile')
    await node.query("update video set state = 'published' where name = 'A private heron'")
    await page.getByRole('button', { name: 'Save', exact: true }).first().click()
    await page.getByRole('status').waitFor()
    expect(await page.locator('[data-progress]').count()).toBe(0)
  })

  it('show what was typed again after a login in between', async () => {
    const { page } = await chromium.person()
    await logIn(page)
    await page.goto(`${node.base}/my-account/profile`)
    await page.getByLabel('Name that others see').fill('Somebody else')
    await page.getByLabel('Remember watched videos').uncheck()
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/login?**')
    await fillLogin(page)
    await page.waitForURL('**/my-account/profile')
    expect(await page.getByLabel('Name that others see').inputValue()).toBe('Somebody else')
    expect(await page.getByLabel('Remember watched videos').isChecked()).toBe(false)
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
  })

  it('have the same content without scripts', async () => {
    const [scripted, plain] = [await chromium.person(), await chromium.person({ javaScriptEnabled: false })]
    await Promise.all([logIn(scripted.page), logIn(plain.page)])
    for (const path of [...beginnings, ...own]) {
      await Promise.all([scripted.open(node.base + path), plain.open(node.base + path)])
      const [withScripts, without] = await Promise.all([textOf(scripted.page), textOf(plain.page)])
      expect({ path, lines: without }).toEqual({ path, lines: withScripts })
    }
  })
})

async function logIn(page: Page): Promise<void> {
  await page.goto(`${node.base}/login`)
  await fillLogin(page)
  await page.locator('a[href="/logout"]').waitFor()
  await page.waitForLoadState()
}

async function fillLogin(page: Page): Promise<void> {
  await page.locator('#username').fill('maker')
  await page.locator('#password').fill(PASSWORD)
  await page.locator('main button.main').click()
}

/** Follows all links within the site; URLs of the same form that differ only in numbers count as one page. */
async function walk(person: Person, from: readonly string[]): Promise<{ troubles: string[]; paths: string[] }> {
  const troubles: string[] = []
  const seen = new Set<string>()
  const waiting = from.map((path) => ({ path, isLinked: false }))
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { path, isLinked } = next
    if (seen.has(path) || seen.size > MAX_PAGES) continue
    seen.add(path)
    const { status, bytes } = await person.open(node.base + path)
    const trouble = (what: string) => troubles.push(`${path}: ${what}`)
    if (isLinked && status >= 400) trouble(`a link to it is dead (${status})`)
    if (bytes > MAX_BYTES) trouble(`${bytes} bytes`)
    // The browser reports the error status of the page itself.
    for (const complaint of person.complaints()) if (!(status >= 400 && /status of 4\d\d/.test(complaint))) trouble(complaint)
    for (const violation of await violationsOf(person.page)) trouble(violation)
    const links = await person.page.locator('a[href]').evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href))
    waiting.push(...links.filter(isPage).map((link) => ({ path: pathOf(link), isLinked: true })))
  }
  return { troubles, paths: [...seen] }
}

/** Feeds, files and the API are not pages. */
const isPage = (link: string): boolean =>
  link.startsWith(`${node.base}/`) && !/^\/(?:feeds|download|static|lazy-static|api|client)\//.test(new URL(link).pathname)

const pathOf = (link: string): string => {
  const { pathname, search } = new URL(link)
  return pathname + search
}

async function tooWide({ page, open }: Person, paths: readonly string[]): Promise<string[]> {
  const wide: string[] = []
  for (const path of paths) {
    await open(node.base + path)
    // The inner width of a telephone's window grows with the page.
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    const most = page.viewportSize()?.width ?? 0
    if (width > most) wide.push(`${path}: ${width} of ${most} px`)
  }
  return wide
}

async function unusable({ page, open }: Person, paths: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const path of paths) {
    await open(node.base + path)
    for (const violation of await violationsOf(page)) found.push(`${path}: ${violation}`)
  }
  return found
}

/** The text lines of a page, without the player, which is the browser's own without scripts, and the place to drop files. */
const textOf = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const main = document.querySelector('main')?.cloneNode(true) as HTMLElement
    for (const scripted of main.querySelectorAll('.player, .drop')) scripted.remove()
    return (main.textContent ?? '').split('\n').flatMap((line) => (line.trim() ? [line.trim()] : []))
  })
