// A server without local passwords.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { makeBrowser } from '../../support/browser.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'

let node: TestNode
beforeAll(async () => {
  const provider = { name: 'company', label: 'The <company>', discovery_url: 'http://127.0.0.1:1', client_id: 'x' }
  node = await startTestNode({ config: { vireo: { auth: { local_passwords: false, openid_connect: [provider] } } } })
})
afterAll(() => node?.stop())

it('refuses all passwords, with the same answer as for wrong ones', async () => {
  const client = await (await fetch(`${node.base}/api/v1/oauth-clients/local`)).json()
  const fields = { ...client, grant_type: 'password', username: node.username, password: node.password }
  const answer = await fetch(`${node.base}/api/v1/users/token`, { method: 'POST', body: new URLSearchParams(fields) })
  expect(await answer.json()).toMatchObject({ status: 400, code: 'invalid_grant' })
})

it('offers the external login on the page, without a form and a password reset', async () => {
  const { html, status } = await makeBrowser(node.base).open('/login')
  expect(status).toBe(200)
  expect(html).toContain('The &lt;company&gt;</a>')
  expect(html).not.toContain('type="password"')
  expect(html).not.toContain('ask-reset-password')
})

it('answers 503 while the provider is unavailable', async () => {
  const { status } = await fetch(`${node.base}/plugins/vireo-openid-connect/1/auth/company`, { redirect: 'manual' })
  expect(status).toBe(503)
})
