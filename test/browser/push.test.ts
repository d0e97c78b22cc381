// The switch for push notifications on this device, in a real browser with a fake push service.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { Client } from '../../scripts/demo/client.ts'
import { type FederatedNode, newcomer, startFederatedNode } from '../federation/support.ts'
import { type Chromium, type Person, startChromium } from '../support/chromium.ts'
import { makePushBrowser } from '../support/push-browser.ts'
import { until } from '../support/until.ts'

const { subscription } = makePushBrowser('https://push.example/browser')

/** Replaces the push service, which headless Chromium lacks. */
const PLAYED = `
  const made = () => localStorage.getItem('played') && {
    endpoint: '${subscription.endpoint}',
    toJSON: () => (${JSON.stringify(subscription)}),
    unsubscribe: async () => localStorage.removeItem('played'),
  }
  PushManager.prototype.getSubscription = async () => made()
  PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
    if (localStorage.getItem('refused')) throw new DOMException('Registration failed', 'NotAllowedError')
    localStorage.setItem('played', applicationServerKey)
    return made()
  }`

let node: FederatedNode
let chromium: Chromium
let maria: Client
let person: Person

beforeAll(async () => {
  ;[node, chromium] = await Promise.all([startFederatedNode(), startChromium()])
  maria = await newcomer(node, 'maria')
  person = await chromium.person({ permissions: ['notifications'] })
  await person.page.addInitScript(PLAYED)
  await login('maria')
})
afterAll(async () => {
  await chromium?.close()
  await node?.stop()
})

async function login(name: string): Promise<void> {
  await person.page.goto(`${node.base}/login`)
  await person.page.fill('[name="username"]', name)
  await person.page.fill('[name="password"]', `the password of ${name}`)
  await person.page.click('main button.main')
  await person.page.locator('a[href="/logout"]').waitFor()
  await person.page.goto(`${node.base}/my-account/settings`)
}

const devices = async () => (await maria.get<{ total: number }>('/api/v1/vireo/push-subscriptions')).total
const box = () => person.page.getByLabel('Notify this device')

it('says that the browser does not allow it', async () => {
  await person.page.evaluate("localStorage.setItem('refused', 'yes')")
  await box().click()
  await person.page.getByText('This browser does not allow notifications of this site.').waitFor()
  expect([await box().isChecked(), await devices()]).toEqual([false, 0])
  await person.page.evaluate("localStorage.removeItem('refused')")
})

it('stays on across reloads, and off once it is switched off', async () => {
  await box().click()
  await person.page.getByText('device is notified.').waitFor()
  const { publicKey } = await maria.get<{ publicKey: string }>('/api/v1/vireo/push-subscriptions')
  expect(await person.page.evaluate("localStorage.getItem('played')")).toBe(publicKey)
  await person.page.goto(`${node.base}/my-account/settings`)
  await until(() => box().isChecked(), { what: 'the switch' })
  expect(await devices()).toBe(1)
  await box().click()
  await person.page.getByText('device is notified.').waitFor({ state: 'detached' })
  expect([await box().isChecked(), await devices()]).toEqual([false, 0])
})

it('has a service worker that shows pushed notifications', async () => {
  const session = await person.page.context().newCDPSession(person.page)
  const registered = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const found = registrations.find(({ isDeleted }) => !isDeleted)
      if (found) resolve(found.registrationId)
    })
  })
  await session.send('ServiceWorker.enable')
  const data = JSON.stringify({ id: 7, title: 'Lake', text: 'A bird is there.', path: '/w/abc' })
  const registrationId = await registered
  const shown = await until(
    async () => {
      // Chromium drops messages before the service worker is active. A repeated message is shown once.
      await session.send('ServiceWorker.deliverPushMessage', { origin: node.base, registrationId, data })
      const list = await person.page.evaluate<object[]>(
        `navigator.serviceWorker.ready.then((of) => of.getNotifications()).then((all) =>
          all.map(({ title, body, tag, data }) => ({ title, body, tag, data })))`,
      )
      return list.length > 0 && list
    },
    { what: 'the notification' },
  )
  expect(shown).toEqual([{ title: 'Lake', body: 'A bird is there.', tag: '7', data: '/w/abc' }])
})

it('is renewed for its user only when the browser replaces the subscription', async () => {
  await box().click()
  await person.page.getByText('device is notified.').waitFor()
  const [worker] = person.page.context().serviceWorkers()
  if (!worker) throw new Error('There is no worker.')
  const { publicKey } = await maria.get<{ publicKey: string }>('/api/v1/vireo/push-subscriptions')
  const replaced = (endpoint: string, given: string) =>
    worker.evaluate<string | null>(`(async () => {
      let asked = null
      const made = { toJSON: () => (${JSON.stringify({ ...subscription, endpoint })}) }
      PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
        asked = applicationServerKey
        return made
      }
      let renewed
      const waitUntil = (work) => (renewed = work)
      dispatchEvent(Object.assign(new Event('pushsubscriptionchange'), { waitUntil, newSubscription: ${given} }))
      await renewed
      return asked
    })()`)
  expect(await replaced('https://push.example/second', 'null')).toBe(publicKey)
  expect(await devices()).toBe(2)
  expect(await replaced('https://push.example/third', 'made')).toBeNull()
  expect(await devices()).toBe(3)
  const nina = await newcomer(node, 'nina')
  for (const name of ['nobody', 'nina'] as const) {
    await person.page.context().clearCookies()
    if (name === 'nina') await login(name)
    expect([name, await replaced('https://push.example/fourth', 'null'), await devices()]).toEqual([name, null, 3])
  }
  expect(await nina.get('/api/v1/vireo/push-subscriptions')).toMatchObject({ total: 0 })
  await maria.send('POST', '/api/v1/vireo/push-subscriptions/remove', {})
  await person.page.context().clearCookies()
  await login('maria')
})

it('ends at logout in this browser', async () => {
  await box().click()
  await person.page.getByText('device is notified.').waitFor()
  await person.page.goto(`${node.base}/logout`)
  await person.page.click('main button.main')
  await person.page.waitForURL(`${node.base}/`)
  expect([await devices(), await person.page.evaluate("localStorage.getItem('played')")]).toEqual([0, null])
  expect(person.complaints()).toEqual([])
})
