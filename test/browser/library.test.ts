// The own library in a real browser: playlists are ordered by the keyboard, and pages are light or dark as chosen.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { type FederatedNode, newcomer, startFederatedNode, uploadBy } from '../federation/support.ts'
import { type Chromium, type Person, startChromium } from '../support/chromium.ts'
import { media } from '../support/media.ts'

let node: FederatedNode
let chromium: Chromium
let playlist: string

beforeAll(async () => {
  ;[node, chromium] = await Promise.all([startFederatedNode({ transcoding: { enabled: false } }), startChromium()])
  const maker = await newcomer(node, 'maker')
  const bytes = await readFile(await media('small.mp4'))
  const body = new FormData()
  for (const [name, value] of [['displayName', 'Birds'] as const, ['privacy', '3'] as const]) body.set(name, value)
  const { videoPlaylist } = await maker.send<{ videoPlaylist: { shortUUID: string } }>('POST', '/api/v1/video-playlists', body)
  playlist = videoPlaylist.shortUUID
  for (const name of ['Heron', 'Coot', 'Swan']) {
    const video = await uploadBy(maker, bytes, { name })
    await maker.send('POST', `/api/v1/video-playlists/${playlist}/videos`, { videoId: video.id })
  }
})
afterAll(async () => {
  await Promise.all([node?.stop(), chromium?.close()])
})

async function loggedIn(): Promise<Person> {
  const person = await chromium.person()
  await person.open(`${node.node.base}/login`)
  await person.page.getByLabel('User name').fill('maker')
  await person.page.locator('[name="password"]').fill('the password of maker')
  await person.page.getByRole('main').getByRole('button', { name: 'Log in' }).click()
  await person.page.waitForURL(`${node.node.base}/`)
  return person
}

describe('a playlist', () => {
  it('is ordered with the keyboard alone, without a reload', async () => {
    const { page, open, complaints } = await loggedIn()
    await open(`${node.node.base}/my-library/video-playlists/${playlist}`)
    await page.evaluate(() => {
      document.documentElement.dataset.loaded = 'once'
    })
    await page.getByRole('row', { name: 'Swan' }).getByRole('button', { name: 'Up' }).focus()
    await page.keyboard.press('Enter')
    await ordered(page, ['Heron', 'Swan', 'Coot'])
    await page.keyboard.press('Enter')
    await ordered(page, ['Swan', 'Heron', 'Coot'])
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Down')
    expect(await page.evaluate(() => document.documentElement.dataset.loaded)).toBe('once')
    expect(complaints()).toEqual([])
  })
})

describe('the theme', () => {
  it.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
    'is chosen by a button at the foot of a page: %j',
    async (options) => {
      const { page, open, complaints } = await chromium.person({ colorScheme: 'light', ...options })
      const paper = () => page.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor)
      const choose = (name: string) => page.getByRole('contentinfo').getByRole('button', { name, exact: true }).click()
      await open(`${node.node.base}/about`)
      expect(await paper()).toBe('rgb(251, 250, 247)')
      await choose('Dark')
      await page.waitForURL(`${node.node.base}/about`)
      expect(await paper()).toBe('rgb(20, 20, 22)')
      await open(`${node.node.base}/login`)
      expect(await paper()).toBe('rgb(20, 20, 22)')
      await page.emulateMedia({ colorScheme: 'dark' })
      await choose('Light')
      await page.locator('[value="light"][aria-current]').waitFor()
      expect(await paper()).toBe('rgb(251, 250, 247)')
      await choose('As the device')
      await page.locator('[value="light dark"][aria-current]').waitFor()
      expect(await paper()).toBe('rgb(20, 20, 22)')
      expect(complaints()).toEqual([])
    },
  )
})

async function ordered(page: Page, names: string[]): Promise<void> {
  await page.waitForFunction(
    (wanted) => [...document.querySelectorAll('tbody a')].map((link) => link.textContent).join() === wanted,
    names.join(),
  )
}
