// Who was notified of what: the rows of notifications, their mails, and the list that the user sees.

import type { Client } from '../../scripts/demo/client.ts'
import type { FederatedNode } from '../federation/support.ts'
import type { MailServer } from './mail-server.ts'
import { until } from './until.ts'

type View = Record<string, unknown> & { id: number; type: number }

/** The notifications of one type in the list of a user, newest first, without timestamps. */
export async function notificationsSeenBy(client: Client, type: number): Promise<object[]> {
  const path = '/api/v1/users/me/notifications?count=100'
  const { data } = await client.get<{ total: number; data: View[] }>(path)
  return data
    .filter((one) => one.type === type)
    .map(({ id: _id, type: _type, createdAt: _createdAt, updatedAt: _updatedAt, ...view }) => view)
}

/**
 * By username: how many notifications of this type were created since the last call, and how many of their mails arrived. Waits until the
 * outbox is empty and all mails are sent.
 */
export function makeNotifiedUsers(node: FederatedNode, mail: MailServer): (type: number) => Promise<Record<string, string>> {
  const last = new Map<number, number>()
  return async (type) => {
    await node.settled()
    const open = "select 1 from job where type = 'email' and state in ('waiting', 'delayed', 'active')"
    await until(async () => (await node.query(open)).length === 0, { what: 'the end of all mails' })
    const rows = await node.query<{ username: string; newest: number; times: number; mails: string[] }>(
      `select u.username, max(n.id)::int as newest, count(distinct n.id)::int as times, array_agg(concat('mail-', j.id)) as mails
       from notification n join users u on u.id = n.user_id left join job j on j.type = 'email'
         and j.data->>'mail' = 'notification' and (j.data->>'notificationId')::bigint = n.id
       where n.type = $1 and n.id > $2 group by u.username`,
      [type, last.get(type) ?? 0],
    )
    last.set(type, Math.max(last.get(type) ?? 0, ...rows.map(({ newest }) => newest)))
    return Object.fromEntries(
      rows.map(({ username, times, mails }) => {
        const came = mail.mails.filter(({ headers }) => mails.includes(jobOf(headers['message-id'] ?? '')))
        return [username, `${times} with ${came.length} mails`]
      }),
    )
  }
}

/** Number of notification mails by address. */
export function notificationMailsByAddress({ mails }: MailServer): Record<string, number> {
  const came = new Map<string, number>()
  for (const { to, headers } of mails) {
    if (!headers['list-unsubscribe']) continue
    for (const address of to) came.set(address, (came.get(address) ?? 0) + 1)
  }
  return Object.fromEntries(came)
}

const jobOf = (messageId: string): string => messageId.replace(/^<|@.*$/g, '')
