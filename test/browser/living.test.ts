// In a real browser, with and without scripts: an administrator names a new server, uploads a video and creates an account for a second
// user, who comments, likes, subscribes and reports; then the report is resolved, a second server is followed, and a video of it watched
// and mirrored. No command line is needed.

import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { type FederatedNode, startFederatedNode } from '../federation/support.ts'
import { type Chromium, startChromium } from '../support/chromium.ts'
import { media } from '../support/media.ts'
import { run } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const PASSWORD = 'a good password'
/** Folder for a screenshot of each step. */
const { VIREO_TEST_SCREENSHOTS: pictures } = process.env

let chromium: Chromium
beforeAll(async () => {
  chromium = await startChromium()
  if (pictures) await mkdir(pictures, { recursive: true })
})
afterAll(() => chromium?.close())

describe.each([
  { name: 'with scripts', javaScriptEnabled: true },
  { name: 'without scripts', javaScriptEnabled: false },
])('a new server $name', ({ name, javaScriptEnabled }) => {
  let own: FederatedNode
  let other: FederatedNode
  let node: FederatedNode['node']
  beforeAll(async () => {
    ;[own, other] = await Promise.all([
      startFederatedNode({ transcoding: { enabled: false }, video_file: { update: { enabled: true } } }),
      startFederatedNode({ transcoding: { enabled: true, hls: { enabled: true } } }),
    ])
    node = own.node
    await other.upload(await readFile(await media('small.mp4')), { name: 'A stork' })
    await until(async () => (await other.query("select 1 from transcoding where state <> 'done'")).length === 0, { what: 'its renditions' })
  })
  afterAll(async () => {
    await Promise.all([own?.stop(), other?.stop()])
  })

  it('can be used entirely in the browser', async () => {
    const owner = await chromium.person({ javaScriptEnabled })
    const guest = await chromium.person({ javaScriptEnabled })
    const main = (page: Page) => page.getByRole('main')
    let step = 0
    const seen = async (page: Page, what: string) => {
      if (pictures) await page.screenshot({ path: join(pictures, `${name.replace(' ', '-')}-${++step}-${what}.png`), fullPage: true })
    }
    const logIn = async (page: Page, username: string, password: string) => {
      await page.goto(`${node.base}/login`)
      await page.getByLabel('User name').fill(username)
      await page.locator('[name="password"]').fill(password)
      await main(page).getByRole('button', { name: 'Log in' }).click()
    }

    const { page } = owner
    await logIn(page, node.username, node.password)
    await page.waitForURL('**/admin/setup')
    await seen(page, 'setup')
    await page.getByLabel('Name', { exact: true }).fill('Lake')
    await page.getByRole('button', { name: 'Save' }).first().click()
    await page.getByRole('status').waitFor()
    await page.getByRole('button', { name: 'Go on' }).click()

    await page.waitForURL('**/videos/upload')
    await seen(page, 'upload')
    await page.locator('[name="videofile"]').setInputFiles(await media('small.mp4'))
    await page.locator('[name="name"]').fill('A heron')
    if (javaScriptEnabled) await page.getByRole('radio', { name: 'The picture at 0:02' }).check()
    await main(page).getByRole('button', { name: 'Upload' }).click()
    if (javaScriptEnabled) {
      const details = page.getByRole('link', { name: 'Edit the details' })
      await details.waitFor()
      await seen(page, 'uploaded')
      await details.click()
    }
    await page.waitForURL(/\/my-library\/videos\/\w+$/)
    await seen(page, 'edit')
    const id = page.url().split('/').at(-1)
    await until(async () => (await fetch(`${node.base}/w/${id}`)).status === 200, { what: 'the published video' })
    if (javaScriptEnabled) {
      expect(await run(node.databaseUrl, 'select automatically_generated as drawn from thumbnail where type = 1')).toEqual([
        { drawn: false },
      ])
      await page.getByRole('link', { name: 'Replace the file' }).click()
      await page.locator('[name="videofile"]').setInputFiles(await media('blue.mp4'))
      await main(page).getByRole('button', { name: 'Replace' }).click()
      await page.getByRole('link', { name: 'Back', exact: true }).waitFor()
      await seen(page, 'replaced')
      expect(await (await fetch(`${node.base}/api/v1/videos/${id}`)).json()).toMatchObject({
        name: 'A heron',
        inputFileUpdatedAt: expect.any(String),
      })
    }

    await page.goto(`${node.base}/admin/users`)
    await page.locator('#new-username').fill('guest')
    await page.locator('#new-email').fill('guest@example.com')
    await page.locator('#new-password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Make the user' }).click()
    await page.getByRole('link', { name: 'guest' }).waitFor()
    await seen(page, 'users')

    await logIn(guest.page, 'guest', PASSWORD)
    await guest.page.getByRole('link', { name: 'Log out' }).waitFor()
    await guest.page.goto(`${node.base}/w/${id}`)
    await guest.page.getByRole('button', { name: 'Like', exact: true }).click()
    await guest.page.getByRole('button', { name: 'Like', exact: true, pressed: true }).waitFor()
    await guest.page.getByLabel('Your comment').fill('How tall it is!')
    await guest.page.getByRole('button', { name: 'Send', exact: true }).click()
    await guest.page.locator('.comments').getByText('How tall it is!').waitFor()
    await guest.page.getByRole('button', { name: /^Subscribe/ }).click()
    await guest.page.getByRole('button', { name: /^Unsubscribe/ }).waitFor()
    await seen(guest.page, 'watch')
    await guest.page.getByRole('link', { name: 'Report', exact: true }).click()
    await guest.page.getByLabel('Explanation').fill('It is a stork.')
    await guest.page.getByRole('button', { name: 'Report' }).click()
    await guest.page.getByText('Thank you.').waitFor()
    await seen(guest.page, 'reported')

    await page.goto(`${node.base}/admin/abuses`)
    await seen(page, 'reports')
    await page.getByRole('row').filter({ hasText: 'It is a stork.' }).getByRole('button', { name: 'Accept' }).click()
    await page.getByText('Accept: 1 done.').waitFor()
    await seen(page, 'accepted')

    /** Opens the page until the row with this text shows what is expected. */
    const shows = (path: string, row: string, what: string) =>
      until(
        async () => {
          await page.goto(node.base + path)
          return await page.getByRole('row').filter({ hasText: row }).getByText(what, { exact: true }).first().isVisible()
        },
        { what: `${what} of ${row}` },
      )
    await page.goto(`${node.base}/admin/follows/following`)
    await page.getByRole('textbox', { name: 'Servers' }).fill(other.host)
    await main(page).getByRole('button', { name: 'Follow', exact: true }).click()
    await page.getByText('The servers are asked.').waitFor()
    await shows('/admin/follows/following', other.host, 'Accepted')
    await seen(page, 'following')
    const stork = page.getByRole('link', { name: 'A stork' }).first()
    await until(
      async () => {
        await page.goto(`${node.base}/videos/browse`)
        return await stork.isVisible()
      },
      { what: 'the video of the other server' },
    )
    await stork.click()
    await page.getByText(`From ${other.host}`).waitFor()
    const remote = page.url().split('/').at(-1) ?? ''
    await seen(page, 'remote')
    await page.goto(`${node.base}/admin/redundancy`)
    await page.getByRole('textbox', { name: 'Video', exact: true }).fill(remote)
    await main(page).getByRole('button', { name: 'Mirror' }).click()
    await page.getByText('The video will be copied.').waitFor()
    await shows('/admin/redundancy', 'A stork', 'Remove')
    await seen(page, 'mirrored')
    for (const path of [
      '/admin/overview',
      '/admin/config?section=signup',
      '/admin/follows/following',
      '/my-library/videos',
      `/my-library/videos/${id}/studio`,
      '/my-account/profile',
    ]) {
      await page.goto(node.base + path)
      await seen(page, path.slice(1).replaceAll('/', '-'))
    }
    expect([...owner.complaints(), ...guest.complaints()]).toEqual([])
  })
})
