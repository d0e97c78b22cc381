// Who has been told of what: the rows of notifications, the mails asked for them, and the list as its user sees it.

import type { Client } from '../../scripts/demo/client.ts'
import type { FederatedNode } from '../federation/support.ts'

type View = Record<string, unknown> & { id: number; type: number }

/** The notifications of one type as their user sees them, the newest first, without their times. */
export async function seenBy(client: Client, type: number): Promise<object[]> {
  const path = '/api/v1/users/me/notifications?count=100'
  const { data } = await client.get<{ total: number; data: View[] }>(path)
  return data
    .filter((one) => one.type === type)
    .map(({ id: _id, type: _type, createdAt: _createdAt, updatedAt: _updatedAt, ...view }) => view)
}

/**
 * By the names of those who were told of this type since the last call: how often, and how many mails were asked for. Waits until
 * all that happened is carried on.
 */
export function makeWhoWasTold(node: FederatedNode): (type: number) => Promise<Record<string, string>> {
  const seen = new Map<number, string>()
  return async (type) => {
    await node.settled()
    const rows = await node.query<{ username: string; last: string; times: string }>(
      `select u.username, max(n.id) as last, concat(count(*), ' with ', sum((
           select count(*) from job j where j.type = 'email' and j.data->>'mail' = 'notification'
             and (j.data->>'notificationId')::bigint = n.id)), ' mails') as times
       from notification n join users u on u.id = n.user_id where n.type = $1 and n.id > $2
       group by u.username order by u.username`,
      [type, seen.get(type) ?? '0'],
    )
    seen.set(type, rows.map(({ last }) => last).toSorted((a, b) => Number(b) - Number(a))[0] ?? seen.get(type) ?? '0')
    return Object.fromEntries(rows.map(({ username, times }) => [username, times]))
  }
}
