// The list of blocked servers to pass on and to take over: `/vireo/server-blocklist`.

import { z } from 'zod'
import { type BlocklistOperator, readServerList, writeServerTable } from '../../actors/blocklist/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import { isHost } from '../plugins/handles.ts'
import type { Area } from '../plugins/types.ts'
import type { Here } from '../videos/actor.view.ts'

const URL = '/api/v1/vireo/server-blocklist'
const tags = ['Server Blocks']
const manage = { right: 'MANAGE_SERVERS_BLOCKLIST' } as const
/** Characters: thousands of servers. */
const LONGEST = 300_000
const MOST = 10_000
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
})

export function serverListsArea(deps: { config: () => Config; urls: Here; blocklistOperator: BlocklistOperator }): Area {
  const { config, urls, blocklistOperator } = deps
  return (app) => {
    app.get(
      URL,
      {
        config: manage,
        schema: {
          operationId: 'exportServerBlocks',
          summary: "The servers that the instance blocks, as Mastodon's table (CSV)",
          tags,
          response: { 200: z.object({ list: z.string() }) },
        },
      },
      async () => ({ list: writeServerTable(await blocklistOperator.servers()) }),
    )

    app.post(
      URL,
      {
        config: manage,
        schema: {
          operationId: 'importServerBlocks',
          summary: "Block the servers of a list: one in a line, or Mastodon's table (CSV)",
          tags,
          body: listBody,
          response: { 200: takenView },
        },
      },
      async ({ body: { list, skipBad } }) => {
        const { hosts, milder, bad } = readServerList(list, { ownHost: urls.host, isHost: (text) => isHost(text, config()) })
        const problems = bad.slice(0, MAX_SAID).map(({ line, problem }) => `Line ${line}: ${problem}`)
        if (hosts.length > MOST) problems.push(`There are more than ${MOST} servers.`)
        if (hosts.length > MOST || (bad.length > 0 && !skipBad)) {
          const msg = problems.join(' ')
          throw new DomainError('invalid', msg, { invalidParams: [{ name: 'list', location: 'body', msg, value: undefined }] })
        }
        const before = new Set(await blocklistOperator.servers())
        const added = hosts.filter((host) => !before.has(host))
        await blocklistOperator.blockServers(added, () => undefined)
        return { blocked: added.length, known: hosts.length - added.length, milder, skipped: bad.length }
      },
    )
  }
}
