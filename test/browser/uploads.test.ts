// Uploads by the page in a real browser: what is left of one, which file and which details it ends with, and what is said of bad files.

import { createHash } from 'node:crypto'
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { type Chromium, type Person, startChromium } from '../support/chromium.ts'
import { media } from '../support/media.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { run } from '../support/postgres.ts'

const PIECE = 8 * 1024 * 1024

let chromium: Chromium
let node: TestNode
let folder: string
let maker: Person
let page: Page
beforeAll(async () => {
  chromium = await startChromium()
  node = await startTestNode({ config: { transcoding: { enabled: false, original_file: { keep: true } } } })
  folder = await mkdtemp(join(tmpdir(), 'uploads-'))
})
afterAll(async () => {
  await chromium?.close()
  await node?.stop()
  if (folder) await rm(folder, { recursive: true })
})
beforeEach(async () => {
  maker = await chromium.person()
  page = maker.page
  await page.goto(`${node.base}/login`)
  await page.getByLabel('User name').fill(node.username)
  await page.locator('[name="password"]').fill(node.password)
  await page.getByRole('main').getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('link', { name: 'Log out' }).waitFor()
})
afterEach(() => page?.context().close())

/** A video of two pieces that ends with `end`, in a box that players skip. */
async function take(name: string, end: string): Promise<string> {
  const path = join(folder, name)
  await mkdir(join(path, '..'), { recursive: true })
  const box = Buffer.alloc(PIECE + 8)
  box.writeUInt32BE(box.length)
  box.write('free', 4)
  box.write(end, box.length - end.length)
  await writeFile(path, Buffer.concat([await readFile(await media('small.mp4')), box]))
  return path
}

async function begin(file: string, { name, privacy = '1' }: { name: string; privacy?: string }): Promise<void> {
  await page.goto(`${node.base}/videos/upload`)
  await page.locator('[name="videofile"]').setInputFiles(file)
  await page.locator('[name="name"]').fill(name)
  await page.locator('[name="privacy"]').selectOption(privacy)
  await page.getByRole('main').getByRole('button', { name: 'Upload' }).click()
}

/** The second piece does not arrive, until `mend`. */
async function cutAfterFirst(): Promise<{ mend(): Promise<void> }> {
  const pieces = '**/videos/upload/pieces?upload_id=*'
  await page.route(pieces, async (route) => {
    const isSecond = route.request().headers()['content-range']?.startsWith(`bytes ${PIECE}-`)
    await (isSecond ? route.abort() : route.continue())
  })
  return { mend: () => page.unroute(pieces) }
}

const transfer = () => page.evaluateHandle(() => new DataTransfer())
const lost = () => page.getByText('The connection is lost.').waitFor()
const uploaded = () => page.getByRole('link', { name: 'Edit the details' }).waitFor()
const videos = (name: string) => run(node.databaseUrl, `select name, privacy from video where name like '${name}%' order by id`)

/** SHA-256 of the stored original of the latest video. */
async function stored(): Promise<string> {
  const [row] = await run<{ uuid: string }>(node.databaseUrl, 'select uuid from video order by id desc limit 1')
  const answer = await page.request.get(`${node.base}/api/v1/videos/${row?.uuid}`)
  const { files, streamingPlaylists } = await answer.json()
  const url = [...files, ...(streamingPlaylists[0]?.files ?? [])][0].fileUrl
  return sha(Buffer.from(await (await fetch(url)).arrayBuffer()))
}
const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

describe('an upload by the page', () => {
  it('continues after a reload, and ends with the details that were confirmed last', async () => {
    const file = await take('take.mp4', 'same')
    const { mend } = await cutAfterFirst()
    await begin(file, { name: 'Details first' })
    await lost()
    await page.reload()
    await page.getByText('Choose take.mp4 again to continue at 99 %.').waitFor()
    await mend()
    const ranges: (string | undefined)[] = []
    page.on('request', (one) => {
      if (one.method() === 'PUT') ranges.push(one.headers()['content-range'])
    })
    await begin(file, { name: 'Details second', privacy: '3' })
    await uploaded()
    const { length } = await readFile(file)
    expect(ranges).toEqual([`bytes */${length}`, `bytes */${length}`, `bytes ${PIECE}-${length - 1}/${length}`])
    expect(await videos('Details')).toEqual([{ name: 'Details second', privacy: 3 }])
    await page.goto(`${node.base}/videos/upload`)
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([])
  }, 300_000)

  it('arrives but for its end while the details are typed, and appears with the form', async () => {
    const file = await take('typed.mp4', 'typed')
    await page.goto(`${node.base}/videos/upload`)
    await page.locator('[name="videofile"]').setInputFiles(file)
    await page.getByText('Uploaded but for its end').waitFor()
    expect(await run(node.databaseUrl, "select state from upload where file_name = 'typed.mp4'")).toEqual([{ state: 'receiving' }])
    await page.locator('[name="name"]').fill('Typed later')
    await page.locator('[name="privacy"]').selectOption('2')
    expect(await videos('Typed')).toEqual([])
    await page.getByRole('main').getByRole('button', { name: 'Upload' }).click()
    await uploaded()
    expect(await videos('Typed')).toEqual([{ name: 'Typed later', privacy: 2 }])
    expect(await stored()).toBe(sha(await readFile(file)))
  }, 300_000)

  it('is one upload, whatever becomes of the thumbnail, and none without a file', async () => {
    await page.goto(`${node.base}/videos/upload`)
    await page.locator('[name="name"]').fill('No file yet')
    await page.getByRole('main').getByRole('button', { name: 'Upload' }).click()
    expect(await page.locator('[name="name"]').inputValue()).toBe('No file yet')
    await page.route('**/my-library/videos/*', (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()))
    await page.locator('[name="videofile"]').setInputFiles(await take('pictured.mp4', 'pictured'))
    await page.getByRole('radio', { name: 'The picture at 0:02' }).check()
    await page.getByRole('main').getByRole('button', { name: 'Upload' }).click()
    await uploaded()
    await page.getByText('Uploaded, without the thumbnail.').waitFor()
    expect(await videos('No file yet')).toHaveLength(1)
  }, 300_000)

  it('leads to the login when the session has ended, and goes on afterwards', async () => {
    await page.goto(`${node.base}/videos/upload`)
    const file = await take('session.mp4', 'session')
    await page.locator('[name="videofile"]').setInputFiles(file)
    await page.getByText('Uploaded but for its end').waitFor()
    await page.locator('[name="name"]').fill('After the session')
    await page.context().clearCookies()
    await page.getByRole('main').getByRole('button', { name: 'Upload' }).click()
    await page.waitForURL('**/login?**')
    await page.getByLabel('User name').fill(node.username)
    await page.locator('[name="password"]').fill(node.password)
    await page.getByRole('main').getByRole('button', { name: 'Log in' }).click()
    await page.getByText('Choose session.mp4 again').waitFor()
    expect(await page.locator('[name="name"]').inputValue()).toBe('After the session')
    await page.locator('[name="videofile"]').setInputFiles(file)
    await page.getByRole('main').getByRole('button', { name: 'Upload' }).click()
    await uploaded()
    expect(await videos('After the session')).toHaveLength(1)
  }, 300_000)

  it('is not begun by dragging over the page', async () => {
    await page.goto(`${node.base}/videos/upload`)
    const posts: string[] = []
    page.on('request', (one) => one.method() === 'POST' && posts.push(one.url()))
    await page.locator('[name="videofile"]').setInputFiles(await take('dragged.mp4', 'dragged'))
    await page.getByText('Uploaded but for its end').waitFor()
    for (let turn = 0; turn < 5; turn += 1) await page.locator('.drop').dispatchEvent('dragover', { dataTransfer: await transfer() })
    await page.locator('.drop').dispatchEvent('drop', { dataTransfer: await transfer() })
    await page.getByText('Uploaded but for its end').waitFor()
    expect(posts).toHaveLength(1)
  }, 300_000)

  it('ends when another file is chosen', async () => {
    await page.goto(`${node.base}/videos/upload`)
    await page.locator('[name="videofile"]').setInputFiles(await take('wrong.mp4', 'wrong'))
    await page.getByText('Uploaded but for its end').waitFor()
    const file = await take('right.mp4', 'right')
    await page.locator('[name="videofile"]').setInputFiles(file)
    await page.getByText('right.mp4 Uploaded but for its end').waitFor()
    await page.getByRole('main').getByRole('button', { name: 'Upload' }).click()
    await uploaded()
    expect(await stored()).toBe(sha(await readFile(file)))
    expect([await videos('right'), await videos('wrong')]).toEqual([[{ name: 'right', privacy: 1 }], []])
    await page.reload()
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([])
  }, 300_000)

  it('never mixes two files of the same name and size', async () => {
    const { mend } = await cutAfterFirst()
    await begin(await take('a/take.mp4', 'one'), { name: 'Take' })
    await lost()
    const other = await take('b/take.mp4', 'two')
    await page.reload()
    await mend()
    await begin(other, { name: 'Take' })
    await uploaded()
    expect(await stored()).toBe(sha(await readFile(other)))
  }, 300_000)

  it('begins once when the button is pressed twice', async () => {
    await begin(await take('twice.mp4', 'twice'), { name: 'Twice' })
    await page.evaluate(() => document.querySelector<HTMLFormElement>('form[data-upload]')?.requestSubmit())
    await uploaded()
    expect(await page.locator('.uploads li').count()).toBe(1)
    expect(await videos('Twice')).toHaveLength(1)
  }, 300_000)

  it('says that a file is empty, in the language of the page, or that it changed', async () => {
    const empty = join(folder, 'empty.mp4')
    await writeFile(empty, '')
    await begin(empty, { name: 'Empty' })
    await page.locator('.uploads').getByText('This file is empty.').waitFor()
    const changing = await take('changing.mp4', 'change')
    const { mend } = await cutAfterFirst()
    await begin(changing, { name: 'Changing' })
    await lost()
    await appendFile(changing, 'more')
    await mend()
    await page.getByText('The file has changed or cannot be read any more. Choose it again.').waitFor()
  }, 300_000)

  it('asks for a file no longer than it shows it', async () => {
    await page.goto(`${node.base}/videos/upload`)
    await page.locator('[name="videofile"]').setInputFiles(await take('shown.mp4', 'shown'))
    await page.getByRole('radio', { name: 'The picture at 0:02' }).waitFor()
    await page.locator('[name="videofile"]').setInputFiles([])
    expect(maker.complaints()).toEqual([])
  }, 300_000)
})
