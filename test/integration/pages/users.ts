// Users of the server whose pages are tested, and their browsers.

import { expect } from '@jest/globals'
import { type Browser, makeBrowser } from '../../support/browser.ts'
import type { MailNode } from '../registrations/node.ts'

export const PASSWORD = 'a good password'

export async function addUser(at: MailNode, username: string, role: number): Promise<void> {
  const body = { username, password: PASSWORD, email: `${username}@example.com`, role, videoQuota: -1, videoQuotaDaily: -1 }
  expect((await at.ask('POST', '/users', body, at.root)).status).toBe(200)
}

export async function loggedIn(at: MailNode, name: string): Promise<Browser> {
  const browser = makeBrowser(at.node.base)
  await browser.login(name, PASSWORD)
  return browser
}
