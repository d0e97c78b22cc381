// Content that the script replaces, in a real browser: numbers after a click, the name of the server, and where somebody was on the page.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type FederatedNode, newcomer, startFederatedNode, uploadBy } from '../federation/support.ts'
import { type Chromium, startChromium } from '../support/chromium.ts'
import { media } from '../support/media.ts'
import { eventually } from '../support/until.ts'
import { logIn, press } from '../support/upload-page.ts'

let chromium: Chromium
let own: FederatedNode
beforeAll(async () => {
  ;[chromium, own] = await Promise.all([startChromium(), startFederatedNode({ transcoding: { enabled: false } })])
})
afterAll(async () => {
  await chromium?.close()
  await own?.stop()
})

it('has the right numbers after Like and Subscribe, while the video stays', async () => {
  const maker = await newcomer(own, 'maker')
  const { uuid } = await uploadBy(maker, await readFile(await media('small.mp4')), { name: 'A heron' })
  await maker.send('PUT', `/api/v1/videos/${uuid}/rate`, { rating: 'like' })
  const { page, complaints } = await chromium.person()
  await logIn(page, own.node)
  await page.goto(`${own.node.base}/w/${uuid}`)
  const player = await page.locator('video').elementHandle()
  const numbers = async () => {
    // No line ends between a number and its noun.
    const text = ((await page.locator('#own').textContent()) ?? '').replaceAll('\u00a0', ' ')
    return { likes: /\d+ likes?/.exec(text)?.[0], subscribers: /\d+ subscribers?/.exec(text)?.[0] }
  }
  expect(await numbers()).toEqual({ likes: '1 like', subscribers: '0 subscribers' })
  await press(page, 'Like')
  await page.getByRole('button', { name: 'Like', exact: true, pressed: true }).waitFor()
  expect(await numbers()).toEqual({ likes: '2 likes', subscribers: '0 subscribers' })
  await page.getByRole('button', { name: /^Subscribe/ }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^Unsubscribe/ }).waitFor()
  expect(await numbers()).toEqual({ likes: '2 likes', subscribers: '1 subscriber' })
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Unsubscribe')
  await page.getByRole('button', { name: /^Unsubscribe/ }).click()
  await page.getByRole('button', { name: /^Subscribe/ }).waitFor()
  expect(await numbers()).toEqual({ likes: '2 likes', subscribers: '0 subscribers' })
  expect(await player?.evaluate((video) => video.isConnected)).toBe(true)
  expect(complaints()).toEqual([])
}, 120_000)

it('leaves somebody where they are when it looks again', async () => {
  const { id, uuid } = await own.upload(await readFile(await media('small.mp4')), { name: 'A stork' })
  const { page } = await chromium.person()
  await page.setViewportSize({ width: 360, height: 500 })
  await logIn(page, own.node)
  await own.query("update video set state = 'to-transcode' where id = $1", [id])
  await page.goto(`${own.node.base}/my-library/videos/${uuid}?done=details`)
  await page.getByRole('status').waitFor()
  await page.getByText('More', { exact: true }).click()
  await page.getByRole('button', { name: 'Offer' }).scrollIntoViewIfNeeded()
  // A look waits while something in a form has the focus.
  await page.evaluate(() => (document.activeElement as HTMLElement).blur())
  const place = () => page.evaluate(() => scrollY)
  const before = await place()
  expect(before).toBeGreaterThan(500)
  await own.query("update video set name = 'A white stork' where id = $1", [id])
  await page.getByText('A white stork').waitFor({ state: 'attached' })
  expect(await place()).toBe(before)
  expect(await page.locator('details', { hasText: 'Licence' }).evaluate((more: HTMLDetailsElement) => more.open)).toBe(true)
  expect(await page.getByRole('status').count()).toBe(0)

  await page.goto(`${own.node.base}/my-library/videos`)
  const table = page.locator('.table')
  await table.evaluate((one) => one.scrollBy(100, 0))
  await own.query("update video set name = 'A black stork' where id = $1", [id])
  await page.getByText('A black stork').first().waitFor()
  expect(await table.evaluate((one) => one.scrollLeft)).toBe(100)
}, 120_000)

it('keeps what is typed while the form is being sent', async () => {
  const { page } = await chromium.person()
  await logIn(page, own.node)
  const path = '/my-account/profile'
  await page.goto(own.node.base + path)
  const gate = Promise.withResolvers<void>()
  await page.route(`**${path}`, async (route) => {
    await gate.promise
    await route.continue()
  })
  await page.locator('[name="displayName"]').fill('A first name')
  const asked = page.waitForRequest((one) => one.method() === 'POST')
  await page.getByRole('main').getByRole('button', { name: 'Save' }).first().click()
  await asked
  await page.locator('[name="description"]').fill('Typed meanwhile')
  gate.resolve()
  await page.getByRole('status').waitFor()
  expect(await page.locator('[name="displayName"]').inputValue()).toBe('A first name')
  expect(await page.locator('[name="description"]').inputValue()).toBe('Typed meanwhile')
  await page.getByRole('main').getByRole('button', { name: 'Save' }).first().click()
  await eventually(async () =>
    expect(await own.query("select name, description from account where name = 'A first name'")).toEqual([
      { name: 'A first name', description: 'Typed meanwhile' },
    ]),
  )
}, 120_000)

it('has the new name of the server in header and title', async () => {
  const { page } = await chromium.person()
  await logIn(page, own.node)
  await page.goto(`${own.node.base}/admin/setup`)
  await page.getByLabel('Name', { exact: true }).fill('Lake')
  await page.getByRole('button', { name: 'Save' }).first().click()
  await page.getByRole('status').waitFor()
  expect(await page.getByRole('banner').getByRole('link').first().textContent()).toBe('Lake')
  expect(await page.title()).toBe('Set up your server - Lake')
}, 120_000)
