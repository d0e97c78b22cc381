// Watched words and automatic tags, of the instance and of accounts. Those of an account are for its owner only.

import { newUuid } from '../../../../src/platform/ids.ts'
import type { Caller } from '../caller.ts'
import type { RouteFixtures } from '../fixtures.ts'
import { row, type Statuses, signedIn, staff } from '../row.ts'

const ownerOnly = (status: number): Statuses => signedIn(status, { other: 403, moderator: 403, admin: 403 })

/** The owner of the lists, and the callers of the routes. */
const sides: [path: string, isServer: boolean, statuses: (status: number) => Statuses][] = [
  ['/api/v1/watched-words/server/lists', true, staff],
  ['/api/v1/watched-words/accounts/:accountName/lists', false, ownerOnly],
]

async function ownersName(fixtures: RouteFixtures): Promise<string> {
  const [user] = await fixtures.db.query<{ username: string }>(
    'select u.username from users u join account a on a.user_id = u.id where a.id = $1',
    [fixtures.callerOrOwner('user').accountId],
  )
  return user?.username ?? ''
}
const byOwner = async (fixtures: RouteFixtures) => ({ params: { accountName: await ownersName(fixtures) } })

const list = () => ({ body: { listName: newUuid(), words: ['word', 'w[o0]rd'] } })
const whose = async (fixtures: RouteFixtures, isServer: boolean) => (isServer ? { params: {} } : await byOwner(fixtures))

const storedList = async (fixtures: RouteFixtures, isServer: boolean) => {
  const [stored] = await fixtures.db.query<{ id: number }>(
    `insert into watched_words_list (account_id, name, words, size) values ($1, $2, '{word}', 1) returning id`,
    [isServer ? null : fixtures.callerOrOwner('user').accountId, newUuid()],
  )
  const { params } = await whose(fixtures, isServer)
  return { params: { ...params, listId: stored?.id ?? 0 } }
}

type Make = (fixtures: RouteFixtures, caller: Caller) => Promise<object>

export const watchedWordsRows = [
  ...sides.flatMap(([path, isServer, statuses]) => {
    const add: Make = async (fixtures) => ({ ...(await whose(fixtures, isServer)), ...list() })
    const update: Make = async (fixtures) => ({ ...(await storedList(fixtures, isServer)), ...list() })
    return [
      row(`GET ${path}`, statuses(200), (fixtures) => whose(fixtures, isServer)),
      row(`GET ${path.replace('/v1', '/v1/vireo')}`, statuses(200), (fixtures) => whose(fixtures, isServer)),
      row(`GET ${path.replace('/v1', '/v1/vireo')}/:listId`, statuses(200), (fixtures) => storedList(fixtures, isServer)),
      row(`POST ${path}`, statuses(200), add),
      row(`PUT ${path}/:listId`, statuses(204), update),
      row(`DELETE ${path}/:listId`, statuses(204), (fixtures) => storedList(fixtures, isServer)),
    ]
  }),
  row('GET /api/v1/automatic-tags/server/available', staff(200)),
  row('GET /api/v1/automatic-tags/accounts/:accountName/available', ownerOnly(200), byOwner),
  row('GET /api/v1/automatic-tags/policies/accounts/:accountName/comments', ownerOnly(200), byOwner),
  row('PUT /api/v1/automatic-tags/policies/accounts/:accountName/comments', ownerOnly(204), async (fixtures) => ({
    ...(await byOwner(fixtures)),
    body: { review: ['external-link'] },
  })),
]
