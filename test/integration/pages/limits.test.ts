// What pages count: their reads with the page, their writes and guesses as those of the API.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Browser, formIn, makeBrowser, partIn as part } from '../../support/browser.ts'
import { makeUser, makeVideo } from '../../support/builders.ts'
import { type MailNode, startMailNode } from '../registrations/node.ts'
import { addUser, PASSWORD } from './users.ts'

const [CALLS, GUESSES] = [6, 4]
const window = '10 minutes'

let at: MailNode
let video: string

beforeAll(async () => {
  at = await startMailNode({ config: { rates_limit: { api: { max: CALLS, window }, login: { max: GUESSES, window } } } })
  await addUser(at, 'reader', 2)
  video = (await makeVideo(at, { channelId: (await makeUser(at)).channelId })).uuid
})
afterAll(() => at?.stop())

/** A user's browser at this address, and how many requests to the API are left there. */
async function readerAt(address: string): Promise<{ reader: Browser; left(): Promise<number> }> {
  const headers = { 'x-forwarded-for': address }
  const reader = makeBrowser(at.node.base, headers)
  await reader.login('reader', PASSWORD)
  const left = async () => Number((await fetch(`${at.node.base}/api/v1/config/about`, { headers })).headers.get('x-ratelimit-remaining'))
  return { reader, left }
}

it('reads of pages do not use up the requests to the API', async () => {
  const { reader, left } = await readerAt('203.0.113.1')
  for (let time = 0; time <= CALLS; time++) {
    for (const path of [`/w/${video}/take-part`, '/my-library/video-playlists', '/my-account/profile'])
      expect({ path, status: (await reader.open(path)).status }).toEqual({ path, status: 200 })
  }
  expect(await left()).toBe(CALLS - 1)
  expect(await left()).toBe(CALLS - 2)
})

it('each write of a page is a request to the API', async () => {
  const { reader, left } = await readerAt('203.0.113.2')
  const rate = async () => await reader.send(part((await reader.open(`/w/${video}/take-part`)).html, 'rate'), { rating: 'like' })
  for (let time = 1; time < CALLS; time++) expect((await rate()).status).toBe(200)
  expect(await left()).toBe(0)
  const refused = await rate()
  expect(refused.status).toBe(429)
  expect(refused.html).toContain('Too many requests, please try again later.')
})

it('wrong passwords of the login and of a change of the password are counted', async () => {
  const { reader } = await readerAt('203.0.113.3')
  const change = async () =>
    await reader.send(part((await reader.open('/my-account/settings')).html, 'password'), {
      currentPassword: 'x',
      password: 'a new password',
    })
  for (let time = 1; time < GUESSES; time++) expect((await change()).status).toBe(400)
  expect((await change()).status).toBe(429)
  const visitor = makeBrowser(at.node.base, { 'x-forwarded-for': '203.0.113.4' })
  const guess = async () => await visitor.send(formIn((await visitor.open('/login')).html, '/login'), { username: 'reader', password: 'x' })
  for (let time = 1; time <= GUESSES; time++) expect((await guess()).status).toBe(400)
  expect((await guess()).status).toBe(429)
})

it('after too many wrong codes the setup of two-factor login says so, and keeps the key', async () => {
  const { reader } = await readerAt('203.0.113.5')
  const begun = await reader.open('/my-account/two-factor')
  let page = await reader.send(part(begun.html, 'request'), { currentPassword: PASSWORD })
  for (let tries = 0; tries <= CALLS && page.status !== 429; tries++)
    page = await reader.send(part(page.html, 'confirm'), { otpToken: '1' })
  expect(page.status).toBe(429)
  expect(page.html).toContain('class="qr"')
  expect(page.html).toMatch(/id="otp-note" role="alert">Too many /)
})
