// A user and a moderator on a test node, inserted by SQL with the administrator's password.

import pg from 'pg'
import { login } from '../../../scripts/demo/client.ts'
import type { TestNode } from '../../support/node.ts'

export async function withDatabase<T>(node: TestNode, work: (db: pg.Client) => Promise<T>): Promise<T> {
  const db = new pg.Client({ connectionString: node.databaseUrl })
  await db.connect()
  try {
    return await work(db)
  } finally {
    await db.end()
  }
}

export type Who = 'anonymous' | 'user' | 'moderator' | 'admin'

/** Request headers with the session of each user. */
export async function addPeople(node: TestNode, area: string): Promise<Record<Who, Record<string, string>>> {
  await withDatabase(node, async (db) => {
    for (const [name, role] of [
      [`${area}_user`, 2],
      [`${area}_moderator`, 1],
    ] as const) {
      await db.query(
        `with added as (
           insert into users (username, role, password_hash, email)
           select $1, $2, password_hash, $1 || '@example.com' from users where username = 'root' returning id
         ), actor as (
           insert into actor (type, preferred_username, url, inbox_url) values ('Person', $1, $3, $3 || '/inbox') returning id
         ) insert into account (actor_id, user_id, name) select actor.id, added.id, $1 from actor, added`,
        [name, role, `${node.base}/accounts/${name}`],
      )
    }
  })
  const headersOf = async (username: string) => ({
    authorization: (await login(node.base, username, node.password)).authorization,
  })
  return {
    anonymous: {},
    user: await headersOf(`${area}_user`),
    moderator: await headersOf(`${area}_moderator`),
    admin: await headersOf(node.username),
  }
}
