// Uploads by the page that are disturbed: by more files, other tabs, reloads, refusals, and connections that are lost or hang.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { violationsOf } from '../support/axe.ts'
import { type Chromium, startChromium } from '../support/chromium.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { freePort } from '../support/ports.ts'
import { run } from '../support/postgres.ts'
import { eventually } from '../support/until.ts'
import { logIn, lost, PIECE, press, requestsOf, rowOf, sent, uploaded, uploadsIn, videosIn, writeTake } from '../support/upload-page.ts'

let chromium: Chromium
let node: TestNode
let proxy: DatabaseProxy
/** Through the proxy. */
let base: string
let folder: string
let page: Page
beforeAll(async () => {
  chromium = await startChromium()
  const port = await freePort()
  proxy = await startDatabaseProxy(`http://127.0.0.1:${port}`)
  base = new URL(proxy.url).origin
  const webserver = { hostname: '127.0.0.1', port: Number(new URL(base).port) }
  const config = { listen: { port }, webserver, transcoding: { enabled: false }, video_file: { update: { enabled: true } } }
  node = await startTestNode({ config })
  folder = await mkdtemp(join(tmpdir(), 'uploads-'))
})
afterAll(async () => {
  await chromium?.close()
  await node?.stop()
  await proxy?.close()
  if (folder) await rm(folder, { recursive: true })
})
beforeEach(async () => {
  page = (await chromium.person()).page
  await logIn(page, { ...node, base })
})
afterEach(() => page?.context().close())

const take = (name: string, pieces?: number) => writeTake(join(folder, name), { end: name, ...(pieces && { pieces }) })
const choose = (files: string | string[], at = page) => at.locator('[name="videofile"]').setInputFiles(files)
const title = (at = page) => at.locator('[name="name"]')
const cancel = (file: string) => rowOf(page, file).getByRole('button', { name: 'Cancel' }).click()

async function open(at = page): Promise<void> {
  await at.goto(`${base}/videos/upload`)
}

describe('several files', () => {
  it('are sent while the details are typed, and each can be cancelled', async () => {
    await open()
    await choose([await take('several-1.mp4'), await take('several-2.mp4')])
    await sent(page, 'several-1')
    await sent(page, 'several-2')
    await choose(await take('several-3.mp4'))
    await sent(page, 'several-3')
    expect(await title().isDisabled()).toBe(true)
    expect(await violationsOf(page)).toEqual([])
    await cancel('several-1')
    await cancel('several-3')
    expect(await page.locator('.uploads li').count()).toBe(1)
    expect(await title().inputValue()).toBe('several-2')
    expect(await page.getByText('Each file gets its own name').count()).toBe(0)
    await title().fill('Several, one')
    await press(page)
    await uploaded(page, 'several-2')
    expect(await videosIn(node, 'Several')).toEqual([{ name: 'Several, one', privacy: 1 }])
    await eventually(async () =>
      expect((await uploadsIn(node, 'several')).map(({ state }) => state)).toEqual(['cancelled', 'finished', 'cancelled']),
    )
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([])
  }, 300_000)

  it('leave the title to the last one when the others are cancelled after the form was sent', async () => {
    await open()
    const files = [await take('batch-1.mp4'), await take('batch-2.mp4')]
    await page.route('**/videos/upload/pieces?upload_id=*', (route) =>
      route.request().headers()['content-range']?.startsWith(`bytes ${PIECE}-`) ? route.abort() : route.continue(),
    )
    await choose(files)
    expect(await title().isDisabled()).toBe(true)
    await press(page)
    await lost(page)
    await cancel('batch-1')
    expect(await title().isDisabled()).toBe(false)
    expect(await title().inputValue()).toBe('batch-2')
    await title().fill('Batch, one')
    await page.unrouteAll()
    await uploaded(page, 'batch-2')
    expect(await videosIn(node, 'Batch')).toEqual([{ name: 'Batch, one', privacy: 1 }])
  }, 300_000)

  it('keep their bytes when they are given again', async () => {
    await open()
    const file = await take('again.mp4', 2)
    const second = (url: URL) => url.pathname === '/videos/upload/pieces'
    await page.route(second, (route) =>
      route.request().headers()['content-range']?.startsWith(`bytes ${PIECE}-`) ? route.abort() : route.continue(),
    )
    const requests = requestsOf(page)
    await choose(file)
    await lost(page)
    await choose(file)
    await page.unroute(second)
    await sent(page, 'again')
    await choose(file)
    await press(page)
    await uploaded(page)
    expect(requests).not.toContain('DELETE')
    expect(requests.filter((range) => range.startsWith('bytes 0-'))).toHaveLength(1)
    expect(await page.locator('.uploads li').count()).toBe(1)
    expect(await videosIn(node, 'again')).toHaveLength(1)
  }, 300_000)
})

it('a replacement is one file, and another one after it is cancelled', async () => {
  await open()
  await choose(await take('replaced.mp4'))
  await sent(page, 'replaced')
  await press(page)
  await rowOf(page, 'replaced').getByRole('link', { name: 'Edit the details' }).click()
  await page.getByRole('link', { name: 'Replace the file' }).click()
  await choose(await take('wrong.mp4'))
  await sent(page, 'wrong')
  expect(await page.locator('[name="videofile"]').isDisabled()).toBe(true)
  await cancel('wrong')
  await choose(await take('right.mp4'))
  await press(page, 'Replace')
  await rowOf(page, 'right').getByText('Uploaded.').waitFor()
  const rows = await run(node.databaseUrl, 'select file_name, state from upload where replaces_id is not null order by file_name')
  expect(rows).toEqual([
    { file_name: 'right.mp4', state: 'finished' },
    { file_name: 'wrong.mp4', state: 'cancelled' },
  ])
}, 300_000)

it('a reload asks first, and keeps what was typed but passwords', async () => {
  await open()
  await choose(await take('typed.mp4'))
  await sent(page, 'typed')
  await title().fill('Typed before')
  await page.locator('[name="description"]').fill('A text')
  await page.locator('[name="tags"]').fill('bird, lake')
  await page.locator('[name="privacy"]').selectOption('5')
  await page.getByLabel('Passwords').fill('a secret')
  const asked: string[] = []
  page.on('dialog', async (dialog) => {
    asked.push(dialog.type())
    await dialog.accept()
  })
  await page.reload()
  await page.getByText('Choose typed.mp4 again').waitFor()
  expect(asked).toEqual(['beforeunload'])
  const values = ['name', 'description', 'tags', 'privacy', 'videoPasswords'].map((name) => page.locator(`[name="${name}"]`).inputValue())
  expect(await Promise.all(values)).toEqual(['Typed before', 'A text', 'bird, lake', '5', ''])
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('secret')
})

describe('the same file in two tabs', () => {
  let tab: Page
  beforeEach(async () => {
    tab = await page.context().newPage()
  })

  async function chooseInBoth(name: string): Promise<void> {
    const file = await take(name)
    await open()
    await choose(file)
    await title().fill('Secret of the first')
    await page.locator('[name="privacy"]').selectOption('3')
    await sent(page, name)
    await open(tab)
    await choose(file, tab)
    await tab.getByText('Another tab is sending this file.').waitFor()
  }

  it('is one video, with the details of the first tab if that is confirmed', async () => {
    await chooseInBoth('first.mp4')
    await press(page)
    await uploaded(page)
    await uploaded(tab)
    expect(await videosIn(node, 'first')).toEqual([])
    expect(await videosIn(node, 'Secret of')).toEqual([{ name: 'Secret of the first', privacy: 3 }])
  }, 300_000)

  it('is one video, with the details of the second tab if that is confirmed', async () => {
    await chooseInBoth('second.mp4')
    await title(tab).fill('Public of the second')
    await press(tab)
    await uploaded(tab)
    await uploaded(page)
    expect(await videosIn(node, 'Public of')).toEqual([{ name: 'Public of the second', privacy: 1 }])
    expect(await uploadsIn(node, 'second')).toHaveLength(1)
  }, 300_000)

  it('goes on in the second tab when the first is closed', async () => {
    await chooseInBoth('closed.mp4')
    await page.close()
    await sent(tab, 'closed')
    page = tab
  }, 300_000)
})

describe('a disturbed upload', () => {
  it('goes on when its connection hangs', async () => {
    await page.clock.install()
    await open()
    const stalled = page.waitForRequest((one) => /^bytes [1-9]/.test(one.headers()['content-range'] ?? '')).then(() => proxy.stall())
    await choose(await take('hanging.mp4', 3))
    await stalled
    await eventually(async () => {
      await page.clock.fastForward(31_000)
      expect(await page.getByText('The connection is lost. Trying again').count()).toBe(1)
    })
    proxy.resume()
    await page.clock.fastForward(31_000)
    await sent(page, 'hanging')
    expect(await page.getByText('The connection is lost.').count()).toBe(0)
  }, 300_000)

  it('says that it had expired, and begins again', async () => {
    await page.clock.install()
    await open()
    await choose(await take('expired.mp4', 2))
    await sent(page, 'expired')
    const gate = Promise.withResolvers<void>()
    await page.route('**/videos/upload/pieces?*', async (route) => {
      if (route.request().headers()['content-range']?.startsWith(`bytes ${PIECE}-`)) await gate.promise
      await route.continue()
    })
    const requests = requestsOf(page)
    await run(node.databaseUrl, "delete from upload where file_name = 'expired.mp4'")
    await page.clock.fastForward(180_000)
    await page.getByText('The upload had expired. Trying again').waitFor()
    // While it is sent.
    await page.getByText('The upload had expired.', { exact: true }).waitFor()
    gate.resolve()
    await sent(page, 'expired')
    expect(requests.filter((range) => range.startsWith('bytes 0-'))).toHaveLength(1)
    await press(page)
    await uploaded(page)
  }, 300_000)

  it('begins with a detail that is refused with the form only', async () => {
    await open()
    await page.locator('[name="tags"]').fill('one, two, three, four, five, six')
    await choose(await take('invalid.mp4'))
    await sent(page, 'invalid')
    expect(await page.locator('[aria-invalid]').count()).toBe(0)
    await press(page)
    await page.getByText('Look at the marked fields again.').waitFor()
    await page.locator('[name="tags"]').fill('one')
    await press(page)
    await uploaded(page)
    expect(await videosIn(node, 'invalid')).toHaveLength(1)
  }, 300_000)

  it('is not sent again after a refusal of its content', async () => {
    const file = join(folder, 'noise.mp4')
    await writeFile(
      file,
      (await readFile(await take('noise-source.mp4'))).map((byte) => byte ^ 0x55),
    )
    await open()
    await choose(file)
    await sent(page, 'noise')
    await press(page)
    const refusal = rowOf(page, 'noise').getByText('The video file cannot be used')
    await refusal.waitFor()
    const requests = requestsOf(page)
    await press(page)
    await choose(file)
    await refusal.waitFor()
    expect(requests).toEqual([])
    await cancel('noise')
    expect(await page.locator('.uploads li').count()).toBe(0)
  }, 300_000)

  it('says what a busy server says, and goes on at once when the browser is online again', async () => {
    await page.clock.install()
    await open()
    const full = {
      status: 503,
      contentType: 'application/json',
      body: JSON.stringify({ detail: 'There is no space left on this server.' }),
    }
    await page.route('**/videos/upload/pieces?*', (route) => route.fulfill(full))
    await choose(await take('full.mp4'))
    await page.getByText('There is no space left on this server. Trying again').waitFor()
    await page.unroute('**/videos/upload/pieces?*')
    await page.clock.pauseAt(new Date(Date.now() + 3_600_000))
    await page.evaluate(() => dispatchEvent(new Event('online')))
    await sent(page, 'full')
  }, 300_000)
})

it('an upload that was left stays noted when the server has too many requests', async () => {
  await open()
  await choose(await take('noted.mp4'))
  await sent(page, 'noted')
  const pieces = '**/videos/upload/pieces?*'
  await page.route(pieces, (route) =>
    route.fulfill({ status: 429, contentType: 'application/json', body: '{"detail":"Too many requests"}' }),
  )
  const answered = page.waitForResponse(pieces)
  await page.reload()
  await answered
  await page.unroute(pieces)
  await page.reload()
  await page.getByText('Choose noted.mp4 again').waitFor()
}, 300_000)

it.each(['/my-account/import-export', '/videos/upload'])('a file is asked for also past the check of the browser: %s', async (path) => {
  await page.goto(`${base}${path}`)
  await page.locator('form[data-upload]').evaluate((form: HTMLFormElement) => {
    form.noValidate = true
    for (const input of form.querySelectorAll('input')) input.required = false
    form.requestSubmit()
  })
  const file = page.locator('form[data-upload] [type="file"]').first()
  expect(await file.evaluate((input: HTMLInputElement) => [input.validity.valueMissing, document.activeElement === input])).toEqual([
    true,
    true,
  ])
})
