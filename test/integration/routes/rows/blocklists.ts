// Blocked accounts and servers, of the instance and of users.

import { newUuid } from '../../../../src/platform/ids.ts'
import type { Caller } from '../caller.ts'
import type { RouteFixtures } from '../fixtures.ts'
import { row, type Statuses, signedIn, staff, visitors } from '../row.ts'

/** The owner of the blocks, and the callers of the routes. */
const sides: [path: string, isServer: boolean, statuses: (status: number) => Statuses][] = [
  ['/api/v1/server/blocklist', true, staff],
  ['/api/v1/users/me/blocklist', false, signedIn],
]

/** The name of an account that no other row uses. */
async function stranger(fixtures: RouteFixtures): Promise<string> {
  const [user] = await fixtures.db.query<{ username: string }>('select username from users where id = $1', [await fixtures.bystander(2)])
  return user?.username ?? ''
}

/** The name of an account that the caller or the instance blocks. */
const blockedAccount = (isServer: boolean) => async (fixtures: RouteFixtures, caller: Caller) => {
  const username = await stranger(fixtures)
  await fixtures.db.query(
    `insert into account_block (owner_id, target_id) select $1::int, a.id from account a join users u on u.id = a.user_id
     where u.username = $2`,
    [isServer ? null : fixtures.callerOrOwner(caller).accountId, username],
  )
  return { params: { accountName: username } }
}

const blockedServer = (isServer: boolean) => async (fixtures: RouteFixtures, caller: Caller) => {
  const host = `${newUuid()}.example`
  const owner = isServer ? null : fixtures.callerOrOwner(caller).accountId
  await fixtures.db.query('insert into server_block (owner_id, host) values ($1, $2)', [owner, host])
  return { params: { host } }
}

export const blocklistRows = [
  row('GET /api/v1/blocklist/status', visitors(200), () => ({ query: { hosts: 'blocked.example' } })),
  ...sides.flatMap(([path, isServer, statuses]) => [
    ...['account', 'server'].flatMap((kind) => {
      const list = `/api/v1/vireo/${isServer ? '' : 'my-'}${kind}-blocklist`
      const name = kind === 'account' ? 'somebody@far.example' : 'far.example'
      return [row(`GET ${list}`, statuses(200)), row(`POST ${list}`, statuses(200), () => ({ body: { list: name } }))]
    }),
    row(`GET ${path}/accounts`, statuses(200)),
    row(`POST ${path}/accounts`, statuses(204), async (fixtures) => ({ body: { accountName: await stranger(fixtures) } })),
    row(`DELETE ${path}/accounts/:accountName`, statuses(204), blockedAccount(isServer)),
    row(`GET ${path}/servers`, statuses(200)),
    row(`POST ${path}/servers`, statuses(204), () => ({ body: { host: `${newUuid()}.example` } })),
    row(`DELETE ${path}/servers/:host`, statuses(204), blockedServer(isServer)),
  ]),
]
