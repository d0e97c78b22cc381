// Uploads by the page in a real browser: what is left of one, which file and which details it ends with, and what is said of bad files.

import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { violationsOf } from '../support/axe.ts'
import { type Chromium, type Person, startChromium } from '../support/chromium.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { run } from '../support/postgres.ts'
import { eventually } from '../support/until.ts'
import * as uploadPage from '../support/upload-page.ts'
import { logIn, PIECE, rowOf, sha, videosIn, writeTake } from '../support/upload-page.ts'

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
  await logIn(page, node)
})
afterEach(() => page?.context().close())

/** A video of two pieces that ends with `end`. */
const take = (name: string, end: string) => writeTake(join(folder, name), { end })

async function begin(file: string, { name, privacy = '1' }: { name: string; privacy?: string }): Promise<void> {
  await page.goto(`${node.base}/videos/upload`)
  await page.locator('[name="videofile"]').setInputFiles(file)
  await page.locator('[name="name"]').fill(name)
  await page.locator('[name="privacy"]').selectOption(privacy)
  await page.getByRole('main').getByRole('button', { name: 'Upload' }).click()
}

/** Requests with a piece that begins at `place` wait until they are let go. */
async function holdPiece(place: number): Promise<{ asked: Promise<unknown>; go(): void }> {
  const gate = Promise.withResolvers<void>()
  const isHeld = (range = '') => range.startsWith(`bytes ${place}-`)
  const asked = page.waitForRequest((one) => isHeld(one.headers()['content-range']))
  await page.route('**/videos/upload/pieces?upload_id=*', async (route) => {
    if (isHeld(route.request().headers()['content-range'])) await gate.promise
    await route.continue()
  })
  return { asked, go: () => gate.resolve() }
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

const press = (name?: string) => uploadPage.press(page, name)
const focused = () => page.evaluate(() => (document.activeElement as HTMLInputElement).name)
const transfer = () => page.evaluateHandle(() => new DataTransfer())
const lost = () => uploadPage.lost(page)
const uploaded = () => uploadPage.uploaded(page)
const videos = (name: string) => videosIn(node, name)

/** SHA-256 of the stored original of the latest video. */
async function stored(): Promise<string> {
  const [row] = await run<{ uuid: string }>(node.databaseUrl, 'select uuid from video order by id desc limit 1')
  const answer = await page.request.get(`${node.base}/api/v1/videos/${row?.uuid}`)
  const { files, streamingPlaylists } = await answer.json()
  const url = [...files, ...(streamingPlaylists[0]?.files ?? [])][0].fileUrl
  return sha(Buffer.from(await (await fetch(url)).arrayBuffer()))
}

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
    expect([...new Set(ranges)]).toEqual([`bytes */${length}`, `bytes ${PIECE}-${length - 1}/${length}`])
    expect(await videos('Details')).toEqual([{ name: 'Details second', privacy: 3 }])
    await page.goto(`${node.base}/videos/upload`)
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([])
  }, 300_000)

  it('begins after a proxy answered for a server that was away', async () => {
    await page.goto(`${node.base}/videos/upload`)
    await page.route('**/videos/upload', (route) => route.fulfill({ status: 502, contentType: 'text/html', body: 'Bad gateway' }), {
      times: 1,
    })
    await page.locator('[name="videofile"]').setInputFiles(await take('proxy.mp4', 'proxy'))
    await lost()
    await press()
    await uploaded()
    expect(await videos('proxy')).toEqual([{ name: 'proxy', privacy: 1 }])
  }, 120_000)

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

  it.each([
    ['while it is sent', 0],
    ['while its last piece is sent', PIECE],
  ])(
    'takes what is typed %s',
    async (when, place) => {
      const { asked, go } = await holdPiece(place)
      await begin(await take('during.mp4', when), { name: 'Typed before it' })
      await asked
      await page.getByText('The details can be changed until the upload ends.').waitFor()
      await page.locator('[name="name"]').fill(`Typed ${when}`)
      await page.locator('[name="description"]').fill('A heron')
      await page.locator('[name="privacy"]').selectOption('2')
      await press()
      go()
      await uploaded()
      const rows = await run(
        node.databaseUrl,
        "select name, description, privacy from video where name like 'Typed while%' order by id desc limit 1",
      )
      expect(rows).toEqual([{ name: `Typed ${when}`, description: 'A heron', privacy: 2 }])
      expect(await page.locator('[name="name"]').inputValue()).toBe('')
      expect(await page.getByText('The details can be changed').count()).toBe(0)
    },
    300_000,
  )

  it('keeps in the form what was typed at last and is refused', async () => {
    const { asked, go } = await holdPiece(PIECE)
    await begin(await take('refused.mp4', 'refused'), { name: 'A title that is taken' })
    await asked
    await page.locator('[name="name"]').fill('no')
    await page.locator('[name="description"]').fill('A bittern')
    go()
    await page.getByText('Not added: Details.').waitFor()
    expect(await videos('A title that is taken')).toHaveLength(1)
    expect(await page.locator('[name="description"]').inputValue()).toBe('A bittern')
  }, 300_000)

  it('keeps its title when another file is added while it is sent', async () => {
    const { asked, go } = await holdPiece(0)
    await begin(await take('holiday.mp4', 'holiday'), { name: 'My holiday' })
    await asked
    await page.locator('[name="videofile"]').setInputFiles(await take('next.mp4', 'next'))
    await rowOf(page, 'next.mp4').waitFor()
    expect(await page.locator('[name="name"]').isDisabled()).toBe(false)
    go()
    await page.getByText('holiday.mp4 Uploaded.').waitFor()
    await rowOf(page, 'next.mp4').getByText('Uploaded but for its end').waitFor()
    expect(await videos('My holiday')).toHaveLength(1)
    expect(await page.locator('[name="name"]').inputValue()).toBe('next')
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
    await page.getByText('Not added: Thumbnail.').waitFor()
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

  it.each([360, 1200])('shows its rare details one below the other, in a window of %i px', async (width) => {
    await page.setViewportSize({ width, height: 740 })
    await page.goto(`${node.base}/videos/upload`)
    await page.getByText('More', { exact: true }).click()
    const rare = page.locator('.fields details > div')
    const lines = await rare
      .locator('label[for], select, textarea, input:not([type="checkbox"]), h2')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ top, bottom, right }) => ({ top, bottom, right })))
    expect(lines.length).toBeGreaterThan(15)
    const crossed = lines.filter(({ top, right }, index) => top < (lines[index - 1]?.bottom ?? 0) || right > width)
    expect(crossed).toEqual([])
    expect(await rare.getByRole('heading').allTextContents()).toEqual(['Captions'])
  })

  it('takes all details, chapters, captions and a thumbnail from one form', async () => {
    await page.goto(`${node.base}/videos/upload`)
    expect(await page.locator('[name="videoPasswords"]').isVisible()).toBe(false)
    await page.locator('[name="videofile"]').setInputFiles(await take('whole.mp4', 'whole'))
    await page.getByRole('radio', { name: 'The picture at 0:02' }).check()
    await page.locator('[name="name"]').fill('All of it')
    await page.locator('[name="privacy"]').selectOption('5')
    await page.getByLabel('Passwords').fill('first secret\nsecond secret')
    await page.locator('[name="tags"]').fill('bird, lake')
    await page.locator('#upload-language').selectOption('fr')
    await page.getByText('More', { exact: true }).click()
    await page.locator('[name="category"]').selectOption('1')
    await page.locator('[name="licence"]').selectOption('2')
    await page.locator('[name="support"]').fill('By boat')
    await page.locator('[name="commentsPolicy"]').selectOption('3')
    await page.locator('[name="scheduleUpdate.updateAt"]').fill('2127-03-01T10:30')
    await page.locator('[name="chapters"]').fill('0:00 Standing\n0:01 Flying')
    await page.locator('[name="captionLanguage"]').selectOption('fr')
    const vtt = { name: 'a.vtt', mimeType: 'text/vtt', buffer: Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nSalut\n') }
    await page.locator('[name="captionfile"]').setInputFiles(vtt)
    await press()
    await uploaded()
    const [video] = await run<{ id: number }>(
      node.databaseUrl,
      "select id, privacy, tags, language, category, licence, support, comments_policy from video where name = 'All of it'",
    )
    const { id, ...details } = video ?? { id: 0 }
    expect(details).toEqual({
      privacy: 5,
      tags: ['bird', 'lake'],
      language: 'fr',
      category: 1,
      licence: 2,
      support: 'By boat',
      comments_policy: 3,
    })
    const rows = (sql: string) => run(node.databaseUrl, sql.replace('$1', String(id)))
    expect(await rows('select timecode, title from video_chapter where video_id = $1 order by timecode')).toEqual([
      { timecode: 0, title: 'Standing' },
      { timecode: 1, title: 'Flying' },
    ])
    expect(await rows('select language from video_caption where video_id = $1')).toEqual([{ language: 'fr' }])
    expect(await rows('select update_at, privacy from video_schedule where video_id = $1')).toEqual([
      { update_at: new Date('2127-03-01T10:30:00Z'), privacy: 1 },
    ])
    expect(await page.locator('.uploads li').textContent()).toMatch(/Uploaded. Edit the details\s*$/)
  }, 300_000)

  it('is refused at the fields, in the language of the page, and goes on with what is mended', async () => {
    await page.context().addCookies([{ name: 'vireo-language', value: 'de', url: node.base }])
    await page.goto(`${node.base}/videos/upload`)
    await page.locator('[name="videofile"]').setInputFiles(await take('mended.mp4', 'mended'))
    await page.getByText('Hochgeladen bis auf das Ende').waitFor()
    await page.locator('[name="tags"]').fill('one, two, three, four, five, six')
    await page.locator('summary', { hasText: 'Mehr' }).click()
    await page.locator('[name="chapters"]').fill('nonsense')
    await page.locator('summary', { hasText: 'Mehr' }).click()
    await press('Hochladen')
    const tags = page.locator('[name="tags"]')
    await page.locator('.uploads .problem').waitFor()
    expect(await page.locator('.uploads .problem').textContent()).toBe('Bitte die markierten Felder prüfen.')
    expect(await focused()).toBe('tags')
    expect(await tags.getAttribute('aria-invalid')).toBe('true')
    const [, about = ''] = ((await tags.getAttribute('aria-describedby')) ?? '').split(' ')
    expect(await page.locator(`[id="${about}"]`).textContent()).toMatch(/5/)
    expect(await page.locator('[name="chapters"]').isVisible()).toBe(true)
    expect(await page.locator('[name="chapters"]').getAttribute('aria-invalid')).toBe('true')
    expect(await violationsOf(page)).toEqual([])
    await tags.fill('one, two')
    await page.locator('[name="chapters"]').fill('0:00 All')
    const ranges: (string | undefined)[] = []
    page.on('request', (one) => one.method() === 'PUT' && ranges.push(one.headers()['content-range']))
    await press('Hochladen')
    await page.getByRole('link', { name: 'Details bearbeiten' }).waitFor()
    // Its first piece was there.
    expect(ranges.filter((range) => range?.startsWith('bytes 0-'))).toEqual([])
    expect(await page.locator('[aria-invalid]').count()).toBe(0)
  }, 300_000)

  it('takes several files with the same details, and after a refusal those that are left', async () => {
    await page.goto(`${node.base}/videos/upload`)
    const text = join(folder, 'no-video.txt')
    await writeFile(text, 'no video')
    await page.locator('[name="videofile"]').setInputFiles([await take('many-1.mp4', '1'), text, await take('many-2.mp4', '2')])
    expect(await page.locator('[name="name"]').isDisabled()).toBe(true)
    expect(await page.locator('[name="name"]').evaluate((field) => Number(getComputedStyle(field).opacity))).toBeLessThan(1)
    await page.getByText('Each file gets its own name as title.').waitFor()
    await page.locator('[name="tags"]').fill('many')
    await page.locator('[name="privacy"]').selectOption('2')
    await press()
    await rowOf(page, 'no-video.txt').getByText('This file is not supported').waitFor()
    await page.getByText('many-2.mp4 Uploaded.').waitFor()
    await press()
    await rowOf(page, 'no-video.txt').getByText('This file is not supported').waitFor()
    const rows = await run(node.databaseUrl, "select name, privacy, tags from video where name like 'many%' order by name")
    expect(rows).toEqual([
      { name: 'many-1', privacy: 2, tags: ['many'] },
      { name: 'many-2', privacy: 2, tags: ['many'] },
    ])
  }, 300_000)

  it('is kept open while the form waits', async () => {
    await page.clock.install()
    await page.goto(`${node.base}/videos/upload`)
    await page.locator('[name="videofile"]').setInputFiles(await take('kept.mp4', 'kept'))
    await page.getByText('Uploaded but for its end').waitFor()
    const left = async () => {
      const [row] = await run<{ seconds: number }>(
        node.databaseUrl,
        "select extract(epoch from due_at - now())::integer as seconds from upload where file_name = 'kept.mp4'",
      )
      return row?.seconds ?? 0
    }
    await run(node.databaseUrl, "update upload set due_at = now() + interval '10 minutes' where file_name = 'kept.mp4'")
    await page.clock.fastForward('05:00')
    await eventually(async () => expect(await left()).toBeGreaterThan(30 * 60))
    await press()
    await uploaded()
  }, 300_000)

  it('is not called unfinished in another tab while it runs', async () => {
    await page.goto(`${node.base}/videos/upload`)
    await page.locator('[name="videofile"]').setInputFiles(await take('elsewhere.mp4', 'elsewhere'))
    await page.getByText('Uploaded but for its end').waitFor()
    const tab = await page.context().newPage()
    const idle = tab.waitForResponse((answer) => answer.url().includes('/pieces'), { timeout: 3000 }).catch(() => undefined)
    await tab.goto(`${node.base}/videos/upload`)
    expect(await idle).toBeUndefined()
    expect(await tab.locator('.uploads li').count()).toBe(0)
    await page.reload()
    await page.getByText('Choose elsewhere.mp4 again').waitFor()
    await tab.reload()
    await tab.getByText('Choose elsewhere.mp4 again').waitFor()
  }, 300_000)
})
