// Users of a test node, inserted by SQL, and forms with pictures.

import pg from 'pg'
import sharp from 'sharp'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { newUuid } from '../../../src/platform/ids.ts'
import { type MadeUser, makeUser } from '../../support/builders.ts'
import { fastPasswords } from '../../support/fast-crypto.ts'
import type { TestNode } from '../../support/node.ts'

export const PASSWORD = 'password1'

export type Query = <T = Record<string, unknown>>(sql: string, values?: readonly unknown[]) => Promise<T[]>

/** A separate connection to the node's database. */
export async function openDatabase(node: TestNode): Promise<{ query: Query; close(): Promise<void> }> {
  const client = new pg.Client({ connectionString: node.databaseUrl })
  await client.connect()
  return {
    query: async <T>(sql: string, values: readonly unknown[] = []) => (await client.query(sql, [...values])).rows as T[],
    close: () => client.end(),
  }
}

const passwordHash = fastPasswords().hash(PASSWORD)

/** A user with the password above, and a client that is logged in as this user. */
export async function addUser(
  node: TestNode,
  query: Query,
  options: { username: string; role?: 0 | 1 | 2 },
): Promise<MadeUser & { client: Client }> {
  const made = await makeUser({ query }, { ...options, origin: node.base })
  await query('update users set password_hash = $2, email = $3 where id = $1', [
    made.id,
    await passwordHash,
    `${made.username}@example.com`,
  ])
  await query('update channel set name = $2 where id = $1', [made.channelId, `Main ${made.username} channel`])
  await query(
    `insert into playlist (uuid, account_id, url, name, type, privacy)
     values ($1::uuid, $2, $3::text || '/video-playlists/' || $1::uuid, 'Watch later', 2, 3)`,
    [newUuid(), made.accountId, node.base],
  )
  return { ...made, client: await login(node.base, made.username, PASSWORD) }
}

/** A picture of a single colour. */
export const plain = (width: number, height: number) => sharp({ create: { width, height, channels: 3, background: 'teal' } })

/** A noise picture, which does not compress. */
export const noise = (width: number, height: number) =>
  sharp({
    create: { width, height, channels: 3, background: 'white', noise: { type: 'gaussian', mean: 128, sigma: 40 } },
  })

export function formWith(field: string, bytes: Uint8Array | string, filename: string): FormData {
  const form = new FormData()
  form.set(field, new Blob([typeof bytes === 'string' ? bytes : Uint8Array.from(bytes)]), filename)
  return form
}
