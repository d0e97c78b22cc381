// Where the keyboard is after forms that are sent in the background, in a real browser.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { type FederatedNode, startFederatedNode } from '../federation/support.ts'
import { type Chromium, startChromium } from '../support/chromium.ts'
import { media } from '../support/media.ts'

let chromium: Chromium
let own: FederatedNode
let page: Page
beforeAll(async () => {
  ;[chromium, own] = await Promise.all([startChromium(), startFederatedNode({ transcoding: { enabled: false } })])
  await own.upload(await readFile(await media('small.mp4')), { name: 'A heron' })
  ;({ page } = await chromium.person())
  await page.goto(`${own.node.base}/login`)
  await page.getByLabel('User name').fill(own.node.username)
  await page.locator('[name="password"]').fill(own.node.password)
  await page.getByRole('main').getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('link', { name: 'Log out' }).waitFor()
})
afterAll(async () => {
  await chromium?.close()
  await own?.stop()
})

/** Name, text and role of the focused element. */
const focused = () =>
  page.evaluate(() => {
    const { id, textContent, role, tagName } = document.activeElement as HTMLElement
    return { tagName, id, text: textContent?.trim(), role }
  })

it('stays on the button that was pressed, or on another one of its row', async () => {
  await page.goto(`${own.node.base}/my-library/videos`)
  await page.getByRole('link', { name: 'A heron', exact: true }).first().click()
  await page.locator('#details-description').fill('A bird')
  const save = page.getByRole('button', { name: 'Save', exact: true })
  await save.focus()
  await page.keyboard.press('Enter')
  await page.getByText('Saved.').waitFor()
  expect(await focused()).toMatchObject({ tagName: 'BUTTON', text: 'Save' })
  await page.locator('#details-tags').fill('bird')
  await page.keyboard.press('Enter')
  await page.locator('#details-tags[value="bird"]').waitFor()
  expect(await focused()).toMatchObject({ tagName: 'INPUT', id: 'details-tags' })

  await page.goto(`${own.node.base}/my-library/videos`)
  await page.getByRole('button', { name: 'Make private' }).first().focus()
  await page.keyboard.press('Enter')
  await page.getByText('Make private: 1 done.').waitFor()
  expect(await focused()).toMatchObject({ tagName: 'BUTTON', text: 'Publish' })
}, 120_000)

it('stays on a button whose region was replaced', async () => {
  await page.goto(`${own.node.base}/my-library/videos`)
  await page.getByRole('link', { name: 'Watch A heron' }).click()
  await page.getByRole('button', { name: 'Like', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.locator('[aria-pressed="true"]').waitFor()
  expect(await focused()).toMatchObject({ tagName: 'BUTTON', text: 'Like' })
  await page.keyboard.press('Enter')
  await page.locator('[aria-pressed="true"]').waitFor({ state: 'detached' })
  expect(await focused()).toMatchObject({ tagName: 'BUTTON', text: 'Like' })
}, 120_000)
