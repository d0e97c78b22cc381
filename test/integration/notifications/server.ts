// A whole server on which a test sees all notifications: in lists, over the bus, and as requested mails.

import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { notificationDefaults } from '../../../src/actors/notification-setting/index.ts'
import type { Values } from '../../../src/config/layers.ts'
import { type FederatedNode, newcomer, startFederatedNode, uploadBy } from '../../federation/support.ts'
import { media } from '../../support/media.ts'
import { until } from '../../support/until.ts'

interface Info {
  id: number
  name: string
}

export interface Told {
  id: number
  type: number
  read: boolean
  video?: Info & { uuid: string; shortUUID: string; channel: Info & { host: string } }
  comment?: { id: number; threadId: number; heldForReview: boolean; account: Info; video: Info }
  actorFollow?: { state: string; follower: Info & { host: string }; following: { type: string; name: string } }
  videoImport?: { id: number; targetUrl?: string; video?: Info }
}

export interface Person {
  name: string
  client: Client
  userId: number
  accountId: number
}

export interface NotificationServer extends FederatedNode {
  person(name: string): Promise<Person>
  uploadBy(person: Person, fields?: Record<string, string>): Promise<{ id: number; uuid: string; url: string }>
  /** Waits until no work is left that could notify somebody. */
  quiet(): Promise<void>
  /** The whole list, newest first, once no work is left. */
  notificationsOf(person: Person, query?: string): Promise<Told[]>
  /** Ids of notifications that were pushed, and of those with a requested mail, by user, sorted. */
  pushed(person: Person): Promise<number[]>
  mailed(person: Person): Promise<number[]>
  /** Omitted settings keep their defaults. */
  wants(person: Person, settings: Record<string, number>): Promise<void>
}

export async function startNotificationServer(config: Values = {}): Promise<NotificationServer> {
  // Mails are requested, and never sent.
  const node = await startFederatedNode({ smtp: { hostname: '127.0.0.1', port: 9 }, ...config })
  const bytes = await readFile(await media('small.mp4'))
  const listener = new pg.Client({ connectionString: node.node.databaseUrl })
  await listener.connect()
  const { hostname, port } = new URL(node.base)
  await listener.query(`listen ${pg.escapeIdentifier(`vireo-${hostname}-${port}_bus`)}`)
  const heard: { userId: number; notificationId: number }[] = []
  let resumed = 0
  listener.on('notification', ({ payload = '{}' }) => {
    const message: { topic?: string; payload: (typeof heard)[number] } = JSON.parse(payload)
    if (message.topic === 'notification.stored') heard.push(message.payload)
    if (message.topic === 'job-queue') resumed += 1
  })

  const quiet = async () => {
    await node.settled()
    await until(
      async () => {
        const open = await node.query("select 1 from job where type = 'notify' and state in ('waiting', 'active')")
        return open.length === 0
      },
      { what: 'the end of the jobs that tell subscribers' },
    )
  }
  const ids = (rows: { id: number }[]) => rows.map(({ id }) => Number(id)).toSorted((a, b) => a - b)

  return {
    ...node,
    quiet,
    async person(name) {
      const client = name === 'root' ? await login(node.base, node.node.username, node.node.password) : await newcomer(node, name)
      const me = await client.get<{ id: number; account: { id: number } }>('/api/v1/users/me')
      return { name, client, userId: me.id, accountId: me.account.id }
    },
    uploadBy: ({ client }, fields) => uploadBy(client, bytes, fields),
    async notificationsOf({ client }, query = '') {
      await quiet()
      const { data, total } = await client.get<{ total: number; data: Told[] }>(`/api/v1/users/me/notifications?count=100${query}`)
      if (total !== data.length) throw new Error(`The total is ${total}, of ${data.length}.`)
      return data
    },
    async pushed({ userId }) {
      await quiet()
      // Earlier messages arrive before this one.
      const before = resumed
      for (const verb of ['pause', 'resume']) await node.client.send('POST', `/api/v1/jobs/${verb}`)
      await until(() => resumed === before + 2, { what: 'the bus' })
      return heard
        .filter((one) => one.userId === userId)
        .map(({ notificationId }) => notificationId)
        .toSorted((a, b) => a - b)
    },
    async mailed({ userId }) {
      await quiet()
      return ids(
        await node.query<{ id: number }>(
          `select (data->>'notificationId')::bigint as id from job join notification n
             on n.id = (data->>'notificationId')::bigint where job.type = 'email' and n.user_id = $1`,
          [userId],
        ),
      )
    },
    wants: ({ client }, settings) => client.send('PUT', '/api/v1/users/me/notification-settings', { ...notificationDefaults, ...settings }),
    async stop() {
      await listener.end()
      await node.stop()
    },
  }
}
