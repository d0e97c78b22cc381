// Lists of blocked accounts and servers to pass on and to take over, of the instance and of each user: `/vireo/account-blocklist`,
// `/vireo/server-blocklist`, `/vireo/my-account-blocklist` and `/vireo/my-server-blocklist`.

import { z } from 'zod'
import {
  type BadLine,
  type BlockLists,
  type ListOwner,
  normalHost,
  readAccountList,
  readServerList,
  writeLines,
  writeServerTable,
} from '../../actors/blocklist/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { isHost, splitHandle } from '../plugins/handles.ts'
import type { App, Area } from '../plugins/types.ts'
import type { Here } from '../videos/actor.view.ts'
import { SIDES, type Side } from './routes.ts'

/** Characters: thousands of names. */
const LONGEST = 300_000
/** Names in a list of the instance, and of a user. */
const MOST = { instance: 10_000, user: 1000 }
const MAX_SAID = 5

const listBody = z.object({
  list: z.string().min(1).max(LONGEST),
  skipBad: z.boolean().default(false).meta({ description: 'Leaves out wrong lines; otherwise they change nothing.' }),
})
const takenView = z.object({
  blocked: z.int(),
  known: z.int().meta({ description: 'Blocked before.' }),
  milder: z.int().meta({ description: 'With a milder severity than a block, and left out.' }),
  skipped: z.int().meta({ description: 'Wrong lines.' }),
  unknown: z.array(z.string()).meta({ description: 'Accounts that this server does not know, and that are not blocked.' }),
})

interface ReadList {
  names: string[]
  milder: number
  bad: BadLine[]
}

export function blockListsArea(deps: { config: () => Config; urls: Here; blockLists: BlockLists }): Area {
  const { config, urls, blockLists } = deps

  function normalHandle(text: string): string | undefined {
    const parts = splitHandle(text, config())
    return parts && `${parts.name.toLowerCase()}@${normalHost(parts.host)}`
  }

  function readList(kind: ListOwner['kind'], text: string, username: string): ReadList {
    if (kind === 'servers') {
      const { hosts, ...rest } = readServerList(text, { ownHost: urls.host, isHost: (host) => isHost(host, config()) })
      return { names: hosts, ...rest }
    }
    const { handles, bad } = readAccountList(text, { ownHandle: `${username.toLowerCase()}@${urls.host}`, normal: normalHandle })
    return { names: handles, milder: 0, bad }
  }

  return (app) => {
    for (const side of SIDES) for (const kind of ['accounts', 'servers'] as const) listRoutes(app, side, kind)
  }

  function listRoutes(app: App, side: Side, kind: ListOwner['kind']): void {
    const { isInstance, owner } = side
    const one = kind === 'accounts' ? 'account' : 'server'
    const url = `/api/v1/vireo/${isInstance ? '' : 'my-'}${one}-blocklist`
    const demand = kind === 'accounts' ? side.manageAccounts : side.manageServers
    const isTable = isInstance && kind === 'servers'
    const most = isInstance ? MOST.instance : MOST.user
    const name = `${isInstance ? '' : 'My'}${kind === 'accounts' ? 'Account' : 'Server'}Blocks`
    const tags = [side.tags[kind]]

    app.get(
      url,
      {
        config: demand,
        schema: {
          operationId: `export${name}`,
          summary: `The ${kind} that ${isInstance ? 'the instance blocks' : 'you block'}, ${isTable ? "as Mastodon's table (CSV)" : 'one in a line'}`,
          tags,
          response: { 200: z.object({ list: z.string() }) },
        },
      },
      async (request) => {
        const names = await blockLists.names({ kind, ownerId: owner(request) })
        return { list: isTable ? writeServerTable(names) : writeLines(names) }
      },
    )

    app.post(
      url,
      {
        config: demand,
        schema: {
          operationId: `import${name}`,
          summary: `Block the ${kind} of a list: one in a line${kind === 'servers' ? ", or Mastodon's table (CSV)" : ' (name@host)'}`,
          tags,
          body: listBody,
          response: { 200: takenView },
        },
      },
      async (request) => {
        const { list, skipBad } = request.body
        const { names, milder, bad } = readList(kind, list, sessionOf(request).user.username)
        const problems = bad.slice(0, MAX_SAID).map(({ line, problem }) => `Line ${line}: ${problem}`)
        if (names.length > most) problems.push(`The list has more than ${most} names.`)
        if (names.length > most || (bad.length > 0 && !skipBad)) {
          const msg = problems.join('\n')
          throw new DomainError('invalid', msg, { invalidParams: [{ name: 'list', location: 'body', msg, value: undefined }] })
        }
        const { blocked, unknown } = await blockLists.block({ kind, ownerId: owner(request) }, names)
        return { blocked, known: names.length - blocked - unknown.length, milder, skipped: bad.length, unknown }
      },
    )
  }
}
