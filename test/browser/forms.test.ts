// Forms of one page in a real browser: sending one keeps what is typed into the others, and what cannot be undone is asked about once.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Dialog, Page } from 'playwright-core'
import { clock } from '../../src/http/pages/bodies/text.ts'
import { type FederatedNode, newcomer, startFederatedNode, uploadBy } from '../federation/support.ts'
import { violationsOf } from '../support/axe.ts'
import { type Chromium, type Person, startChromium } from '../support/chromium.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'

let node: FederatedNode
let chromium: Chromium

beforeAll(async () => {
  ;[node, chromium] = await Promise.all([startFederatedNode({ transcoding: { enabled: false } }), startChromium()])
})
afterAll(async () => {
  await Promise.all([node?.stop(), chromium?.close()])
})

const passwordOf = (name: string): string => `the password of ${name}`

async function loggedIn(name: string, password: string, javaScriptEnabled = true): Promise<Person> {
  const person = await chromium.person({ javaScriptEnabled })
  const { page } = person
  await person.open(`${node.base}/login`)
  await page.getByLabel('User name').fill(name)
  await page.locator('[name="password"]').fill(password)
  await page.getByRole('main').getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('link', { name: 'Log out' }).waitFor()
  return person
}

/** Answers the questions of a page. Returns their kinds and texts. */
function answering(page: Page, answer: (dialog: Dialog) => Promise<void>): string[] {
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(`${dialog.type()} ${dialog.message()}`.trim())
    void answer(dialog)
  })
  return asked
}

const button = (page: Page, name: string) => page.getByRole('main').getByRole('button', { name, exact: true })

describe('one of several notifications', () => {
  it('is marked as read in place, and the focus stays among the others', async () => {
    await newcomer(node, 'chief', { role: 0 })
    await node.query(
      `insert into notification (user_id, type, key, on_web, application_version)
       select u.id, 18, n::text, true, n::text from users u, generate_series(1, 3) n where u.username = $1`,
      ['chief'],
    )
    const { page, open, complaints } = await loggedIn('chief', passwordOf('chief'))
    await open(`${node.base}/my-account/notifications`)
    await page.evaluate(() => document.body.classList.add('kept'))
    const marks = page.getByRole('listitem').getByText('New', { exact: true })
    expect(await marks.count()).toBe(3)
    await button(page, 'Mark as read').nth(1).click()
    await page.getByText('Marked as read.').waitFor()
    expect(await marks.count()).toBe(2)
    expect(await page.locator(':focus').textContent()).toBe('Mark as read')
    expect(await page.locator('body.kept').count()).toBe(1)
    expect(await violationsOf(page)).toEqual([])
    expect(complaints()).toEqual([])
  })
})

describe('what is typed into a form', () => {
  it('stays when another form of the page is saved or refused, and is saved later', async () => {
    const maker = await newcomer(node, 'maker')
    const { id, uuid } = await uploadBy(maker, await readFile(await media('small.mp4')), { name: 'A heron' })
    const { page, open, complaints } = await loggedIn('maker', passwordOf('maker'))
    await open(`${node.base}/my-library/videos/${uuid}`)
    const title = page.locator('#details-name')
    await title.fill('A grey heron')
    await page.locator('#details-nsfw').check()
    await page.locator('#caption-captionfile').setInputFiles({ name: 'a.vtt', mimeType: 'text/vtt', buffer: Buffer.from('WEBVTT\n') })
    await page.locator('#give-username').fill('nobody')
    await button(page, 'Offer').click()
    await page.locator('form:has([value="give"]) [role="alert"]').waitFor()
    expect(await title.inputValue()).toBe('A grey heron')

    // A refused form is shown again with what was typed, which stays, too.
    await button(page, 'Save').click()
    await page.getByText('Saved.').waitFor()
    expect(await page.locator('#give-username').inputValue()).toBe('nobody')
    expect(await page.locator('#caption-captionfile').evaluate((input: HTMLInputElement) => input.files?.length)).toBe(1)
    expect(await node.query('select name, nsfw from video where id = $1', [id])).toEqual([{ name: 'A grey heron', nsfw: true }])
    await page.getByRole('link', { name: 'Chapters' }).click()
    await page.locator('#chapters-chapters').fill('0:00 Standing')
    await button(page, 'Save the chapters').click()
    await page.getByRole('status').waitFor()
    expect(await page.locator('#chapters-chapters').inputValue()).toBe('0:00 Standing')
    await page.locator('#chapters-chapters').fill('nonsense')
    await button(page, 'Save the chapters').click()
    await page.locator('form:has([value="chapters"]) [role="alert"]').first().waitFor()
    expect(await page.locator('#chapters-chapters').inputValue()).toBe('nonsense')
    expect(complaints().filter((one) => !one.includes('status of 4'))).toEqual([])
  })

  it('into a page of chapters while it is saved is the only change of the next save', async () => {
    const keeper = await newcomer(node, 'keeper')
    const { uuid } = await uploadBy(keeper, await readFile(await media('small.mp4')), { name: 'A reed' })
    const api = `/api/v1/videos/${uuid}/chapters`
    const chapters = Array.from({ length: 120 }, (_, n) => ({ timecode: n, title: `Part ${n}` }))
    await keeper.send('PUT', api, { chapters })
    const { page, open } = await loggedIn('keeper', passwordOf('keeper'))
    await open(`${node.base}/my-library/videos/${uuid}/chapters?page=2`)
    const [typed, lines] = [page.locator('#chapters-chapters'), chapters.slice(50, 100)]
    const textOf = (all: typeof chapters) => all.map(({ timecode, title }) => `${clock(timecode)} ${title}`).join('\n')
    expect(await typed.inputValue()).toBe(textOf(lines))
    const { promise, resolve: answer } = Promise.withResolvers<void>()
    await page.route('**/chapters?page=2', async (route) => {
      if (route.request().method() === 'POST') await promise
      await route.continue()
    })
    // One line is new, and changed again before the answer.
    await typed.fill(`${textOf(lines.slice(3))}\n10:00 New`)
    await button(page, 'Save the chapters').click()
    await page.locator('form[aria-busy="true"]').waitFor()
    const left = lines.slice(4)
    await typed.fill(`${textOf(left)}\n10:00 Newer`)
    answer()
    await page.getByRole('status').waitFor()
    expect(await typed.inputValue()).toBe(`${textOf(left)}\n10:00 Newer`)
    await page.evaluate(() => document.querySelector('[role="status"]')?.remove())
    await button(page, 'Save the chapters').click()
    await page.getByRole('status').waitFor()
    const expected = [...chapters.slice(0, 50), ...left, ...chapters.slice(100), { timecode: 600, title: 'Newer' }]
    expect(await keeper.get(api)).toEqual({ chapters: expected })
  })

  it('stays at the setup while a channel is made, and is asked about when somebody goes on', async () => {
    const { page, open } = await loggedIn(node.node.username, node.node.password)
    await open(`${node.base}/admin/setup`)
    const name = page.getByLabel('Name', { exact: true })
    const signup = page.getByLabel('People may sign up')
    const wasOpen = await signup.isChecked()
    await name.fill('Lake')
    await signup.setChecked(!wasOpen)
    await page.getByLabel('Name in its address').fill('herons')
    await page.getByLabel('Name that others see').fill('Herons')
    await button(page, 'Make the channel').click()
    await page.getByRole('status').waitFor()
    expect({ name: await name.inputValue(), isOpen: await signup.isChecked() }).toEqual({ name: 'Lake', isOpen: !wasOpen })
    expect(await page.getByLabel('Name in its address').inputValue()).toBe('')

    let stays = true
    const asked = answering(page, (dialog) => (stays ? dialog.dismiss() : dialog.accept()))
    await button(page, 'Go on').click()
    await until(async () => asked.length === 1)
    expect(asked).toEqual(['beforeunload'])
    expect(await name.inputValue()).toBe('Lake')
    await button(page, 'Save').first().click()
    await page.locator('#setup-instance\\.name[value="Lake"]').waitFor()
    expect(await node.client.get('/api/v1/config')).toMatchObject({ instance: { name: 'Lake' }, signup: { allowed: !wasOpen } })
    stays = false
    await button(page, 'Go on').click()
    await page.waitForURL('**/videos/upload')
    expect(asked).toHaveLength(1)
  })
})

it.each(['/c/maker_channel', '/c/maker_channel/videos?page=1', '/a/maker', '/@maker'])(
  'a channel is subscribed to and left without a reload: %s',
  async (path) => {
    const name = `reader${path.length}`
    await newcomer(node, name)
    const { page, open, complaints } = await loggedIn(name, passwordOf(name))
    await open(`${node.base}${path}`)
    await page.evaluate(() => document.body.classList.add('kept'))
    await page.getByRole('button', { name: /^Subscribe/ }).click()
    await page.getByRole('button', { name: /^Unsubscribe/ }).click()
    await page.getByRole('button', { name: /^Subscribe/ }).waitFor()
    expect(await page.locator('body.kept').count()).toBe(1)
    expect(page.url()).toBe(`${node.base}${path}`)
    expect(complaints()).toEqual([])
  },
)

describe('a dangerous button', () => {
  it('asks once with a script, and does nothing without a yes', async () => {
    await newcomer(node, 'leaver')
    const { page, open, complaints } = await loggedIn('leaver', passwordOf('leaver'))
    const here = `${node.base}/my-library/video-channels`
    await open(here)
    for (const name of ['one', 'two', 'three']) {
      await page.getByLabel('Name in its address').fill(name)
      await page.getByLabel('Name that others see').fill(`Channel ${name}`)
      await button(page, 'Make the channel').click()
      await page.getByRole('row', { name: `Channel ${name}` }).waitFor()
    }
    const named = page.getByRole('row', { name: 'Channel one' }).getByRole('checkbox', { name: /^Select .*Channel one/ })
    expect([await named.count(), await page.getByRole('checkbox', { name: 'Select all' }).count()]).toEqual([1, 1])
    let says = false
    const asked = answering(page, (dialog) => (says ? dialog.accept() : dialog.dismiss()))
    const row = (name: string) => page.getByRole('row', { name: `Channel ${name}` })
    await row('one').getByRole('button', { name: 'Delete' }).click()
    says = true
    await row('two').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Delete: 1 done.').waitFor()
    expect(await row('two').count()).toBe(0)
    await row('one').getByRole('checkbox').check()
    await row('three').getByRole('checkbox').check()
    await page.locator('.many').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Delete: 2 done.').waitFor()
    expect(asked).toEqual(Array.from({ length: 3 }, () => 'confirm Delete?'))

    await open(`${node.base}/my-account/profile`)
    await button(page, 'Delete the account').click()
    await page.waitForURL(`${node.base}/`)
    await page.getByRole('link', { name: 'Log in' }).waitFor()
    expect(asked.slice(3)).toEqual(['confirm Delete the account?'])
    expect(await node.query("select 1 from users where username = 'leaver'")).toEqual([])
    expect(complaints()).toEqual([])
  })

  it('asks on a page of its own without a script', async () => {
    await newcomer(node, 'plain')
    const { page, open, complaints } = await loggedIn('plain', passwordOf('plain'), false)
    await open(`${node.base}/my-account/profile`)
    await button(page, 'Delete the account').click()
    await page.getByRole('heading', { level: 1, name: 'Delete the account?' }).waitFor()
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor()
    expect(await node.query("select 1 from users where username = 'plain'")).toHaveLength(1)
    await button(page, 'Delete the account').click()
    await page.getByRole('heading', { level: 1, name: 'Delete the account?' }).waitFor()
    await button(page, 'Delete the account').click()
    await page.waitForURL(`${node.base}/`)
    await page.getByRole('link', { name: 'Log in' }).waitFor()
    expect(await node.query("select 1 from users where username = 'plain'")).toEqual([])
    expect(complaints()).toEqual([])
  })

  it('has an accessible question, in a narrow window as well', async () => {
    const { send } = await newcomer(node, 'narrow')
    await send('POST', '/api/v1/video-channels', { name: 'bank', displayName: 'Bank' })
    const { page, open } = await loggedIn('narrow', passwordOf('narrow'))
    await page.setViewportSize({ width: 360, height: 740 })
    await open(`${node.base}/my-library/video-channels`)
    // As if the script came late.
    await page.evaluate(() => {
      const form = document.querySelector<HTMLFormElement>('form:has(table)')
      const act = document.createElement('input')
      Object.assign(act, { type: 'hidden', name: 'act', value: 'delete bank' })
      form?.append(act)
      form?.submit()
    })
    await page.getByRole('heading', { level: 1, name: 'Delete?' }).waitFor()
    expect(await violationsOf(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
    const asked = answering(page, (dialog) => dialog.accept())
    await button(page, 'Delete').click()
    await page.getByText('Delete: 1 done.').waitFor()
    expect(asked).toEqual([])
  })
})
