// A whole server with a mail server.

import pg from 'pg'
import { login } from '../../../scripts/demo/client.ts'
import type { Values } from '../../../src/config/layers.ts'
import type { Logger } from '../../../src/platform/logger.ts'
import { type FakeClock, fakeClock } from '../../support/clock.ts'
import { type MailServer, type ReceivedMail, smtpConfig, startMailServer } from '../../support/mail-server.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'

export interface Answer {
  status: number
  headers: Headers
  body: Body
}

/** Members of responses that tests read; each response has some of them. */
interface Body {
  id: number
  access_token: string
  total: number
  data: { username: string; emailVerified: boolean | null; state: { id: number } }[]
  'invalid-params': Record<string, unknown>
  notificationSettings: Record<string, number>
}

export interface MailNode {
  node: TestNode
  mail: MailServer
  clock: FakeClock
  /** `Authorization` of root. */
  root: string
  ask(method: string, path: string, body?: unknown, authorization?: string): Promise<Answer>
  /** The response to a login with a password. */
  token(username: string, password: string): Promise<Answer>
  /** Changes keys of `signup` from now on. */
  setSignup(signup: Values): Promise<void>
  query<T>(sql: string, values?: readonly unknown[]): Promise<T[]>
  stop(): Promise<void>
}

/** `signup`: keys of the configuration; by default direct registration is open. */
export async function startMailNode(
  options: { signup?: Values; config?: Values; mail?: MailServer; logger?: Logger } = {},
): Promise<MailNode> {
  const mail = options.mail ?? (await startMailServer())
  const clock = fakeClock()
  const config: Values & { signup: Values } = {
    signup: { enabled: true, limit: -1, requires_approval: false, ...options.signup },
    smtp: smtpConfig(mail),
    vireo: {
      runtime: { sweep_interval: 100 },
      federation: { allow_http: true, allow_private_addresses: true },
    },
    ...options.config,
  }
  const node = await startTestNode({ clock, config, ...(options.logger ? { logger: options.logger } : {}) })
  const { authorization: root } = await login(node.base, node.username, node.password)

  async function ask(method: string, path: string, body?: unknown, authorization?: string): Promise<Answer> {
    const response = await fetch(`${node.base}/api/v1${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(authorization === undefined ? {} : { authorization }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const parsed = text === '' ? undefined : JSON.parse(text)
    return { status: response.status, headers: response.headers, body: parsed }
  }

  return {
    node,
    mail,
    clock,
    root,
    ask,
    async token(username, password) {
      const { body: client } = await ask('GET', '/oauth-clients/local')
      const response = await fetch(`${node.base}/api/v1/users/token`, {
        method: 'POST',
        body: new URLSearchParams({ ...pairsOf(client), grant_type: 'password', username, password }),
      })
      return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
    },
    async setSignup(signup) {
      config.signup = { enabled: true, limit: -1, ...signup }
      await node.restart()
    },
    async query(sql, values = []) {
      const db = new pg.Client({ connectionString: node.databaseUrl })
      await db.connect()
      try {
        return (await db.query(sql, [...values])).rows
      } finally {
        await db.end()
      }
    },
    async stop() {
      await node.stop()
      await mail.close()
    },
  }
}

const pairsOf = (body: object): Record<string, string> =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [name, String(value)]))

export const applicant = (name: string, more: object = {}) => ({
  username: name,
  password: 'a good password',
  email: `${name}@example.com`,
  ...more,
})

/** The parameters of the link in a mail, which are the same in both bodies. */
export function linkOf(mail: ReceivedMail): { path: string; query: Record<string, string> } {
  const [text] = mail.text.match(/http\S+\?\S+/) ?? []
  const inHtml = /href="(http[^"]+\?[^"]+)"/.exec(mail.html)?.[1]?.replaceAll('&amp;', '&')
  if (text === undefined || text !== inHtml) throw new Error('The two bodies do not have the same link.')
  const url = new URL(text)
  return { path: url.pathname, query: Object.fromEntries(url.searchParams) }
}

export const secretOf = (mail: ReceivedMail): string => linkOf(mail).query.verificationString ?? ''
