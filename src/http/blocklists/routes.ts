// Blocked accounts and servers: of the instance below `/server/blocklist`, of each user below `/users/me/blocklist`.

import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findAccount } from '../../actors/account/index.ts'
import { type Blocklist, normalHost } from '../../actors/blocklist/index.ts'
import { accountBlockStatus, listAccountBlocks, listServerBlocks, serverBlockStatus } from '../../actors/moderation/index.ts'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { hostText, splitHandle, toActorHandle } from '../plugins/handles.ts'
import { listOf, oneOrMore, paging, sorting } from '../plugins/schemas.ts'
import type { App, Area } from '../plugins/types.ts'
import type { Here } from '../videos/actor.view.ts'
import { accountBlockView, blockStatusView, serverBlockView, toAccountBlockView, toServerBlockView, toStatus } from './views.ts'

export interface BlocklistsDeps {
  db: Database
  config: () => Config
  urls: Here
  blocklist: Blocklist
}

type Demand = Pick<FastifyContextConfig, 'auth' | 'right'>

/** The owner of the blocks: the instance or the user. */
export interface Side {
  isInstance: boolean
  path: string
  tags: { accounts: string; servers: string }
  manageAccounts: Demand
  manageServers: Demand
  /** Account of the user; null for the instance. */
  owner: (request: FastifyRequest) => number | null
}

export const SIDES: readonly Side[] = [
  {
    isInstance: false,
    path: '/api/v1/users/me/blocklist',
    tags: { accounts: 'My Blocklist', servers: 'My Blocklist' },
    manageAccounts: { auth: 'user' },
    manageServers: { auth: 'user' },
    owner: (request) => sessionOf(request).user.accountId,
  },
  {
    isInstance: true,
    path: '/api/v1/server/blocklist',
    tags: { accounts: 'Account Blocks', servers: 'Server Blocks' },
    manageAccounts: { right: 'MANAGE_ACCOUNTS_BLOCKLIST' },
    manageServers: { right: 'MANAGE_SERVERS_BLOCKLIST' },
    owner: () => null,
  },
]

const NAME = /^[a-z0-9_.:-]{1,200}$/i
const MAX_ASKED = 100

export function blocklistsArea(deps: BlocklistsDeps): Area {
  const { db, config, urls, blocklist } = deps

  const hostName = hostText(config)
  /** `name` for local accounts, or `name@host`. */
  const handle = z
    .string()
    .refine((text) => NAME.test(text) || splitHandle(text, config()) !== undefined, 'Should have a valid account handle')

  const wholeHandle = z.string().refine((text) => splitHandle(text, config()) !== undefined, 'Should have a valid account handle')
  /** Clients with an invalid list send these, which would be valid host names where no top-level domain is required. */
  const isNoFlag = (text: string): boolean => !/^(true|false)$/i.test(text)

  function readHandle(text: string): { asked: string; name: string; host: string | null } {
    return { asked: text, ...toActorHandle(text.replace(/^@/, ''), urls.host) }
  }

  async function accountCalled(text: string, options?: { orGone: boolean }): Promise<number> {
    const account = await findAccount(db, readHandle(text), options)
    if (!account) throw notFound('Account not found')
    return account.id
  }

  return (app) => {
    for (const side of SIDES) {
      accountRoutes(app, side)
      serverRoutes(app, side)
    }

    app.get(
      '/api/v1/blocklist/status',
      {
        config: { auth: 'optional' },
        schema: {
          tags: ['Account Blocks'],
          querystring: z.object({
            accounts: oneOrMore(wholeHandle, { max: MAX_ASKED }).optional(),
            hosts: oneOrMore(hostName.refine(isNoFlag, 'Should have a valid host'), { max: MAX_ASKED }).optional(),
          }),
          response: { 200: blockStatusView },
        },
      },
      async ({ query, session }) => {
        const readerId = session?.user.accountId ?? null
        const [accounts, hosts] = await Promise.all([
          query.accounts ? accountBlockStatus(db, query.accounts.map(readHandle), readerId) : [],
          query.hosts ? serverBlockStatus(db, query.hosts, readerId) : [],
        ])
        return { accounts: toStatus(accounts), hosts: toStatus(hosts) }
      },
    )
  }

  function listQuery() {
    return z.object({
      ...paging(config()),
      sort: sorting(['createdAt'], '-createdAt'),
      search: z.string().max(500).optional(),
    })
  }

  function accountRoutes(app: App, { path, tags, manageAccounts, owner }: Side): void {
    const schema = { tags: [tags.accounts] }
    app.get(
      `${path}/accounts`,
      {
        config: manageAccounts,
        schema: { ...schema, querystring: listQuery(), response: { 200: listOf(accountBlockView) } },
      },
      async (request) => {
        const { sort, ...query } = request.query
        const page = { ...query, ownerId: owner(request), descending: sort.descending }
        const { total, rows } = await listAccountBlocks(db, page)
        return { total, data: rows.map((row) => toAccountBlockView(row, urls)) }
      },
    )
    app.post(
      `${path}/accounts`,
      {
        config: manageAccounts,
        schema: { ...schema, body: z.object({ accountName: handle }), response: { 204: z.null() } },
      },
      async (request, reply) => {
        const targetId = await accountCalled(request.body.accountName)
        if (targetId === sessionOf(request).user.accountId) {
          throw new DomainError('conflict', 'You cannot block yourself.')
        }
        await blocklist.blockAccount({ ownerId: owner(request), targetId })
        return reply.code(204).send(null)
      },
    )
    app.delete(
      `${path}/accounts/:accountName`,
      {
        config: manageAccounts,
        schema: { ...schema, params: z.object({ accountName: handle }), response: { 204: z.null() } },
      },
      async (request, reply) => {
        const targetId = await accountCalled(request.params.accountName, { orGone: true })
        await blocklist.unblockAccount({ ownerId: owner(request), targetId })
        return reply.code(204).send(null)
      },
    )
  }

  function serverRoutes(app: App, { path, tags, manageServers, owner }: Side): void {
    const schema = { tags: [tags.servers] }
    app.get(
      `${path}/servers`,
      {
        config: manageServers,
        schema: { ...schema, querystring: listQuery(), response: { 200: listOf(serverBlockView) } },
      },
      async (request) => {
        const { sort, ...query } = request.query
        const page = { ...query, ownerId: owner(request), descending: sort.descending }
        const { total, rows } = await listServerBlocks(db, page)
        return { total, data: rows.map((row) => toServerBlockView(row, urls)) }
      },
    )
    app.post(
      `${path}/servers`,
      { config: manageServers, schema: { ...schema, body: z.object({ host: hostName }), response: { 204: z.null() } } },
      async (request, reply) => {
        const { host } = request.body
        if (normalHost(host) === urls.host) throw new DomainError('conflict', 'You cannot block your own server.')
        await blocklist.blockServer({ ownerId: owner(request), host })
        return reply.code(204).send(null)
      },
    )
    app.delete(
      `${path}/servers/:host`,
      {
        config: manageServers,
        schema: { ...schema, params: z.object({ host: hostName }), response: { 204: z.null() } },
      },
      async (request, reply) => {
        await blocklist.unblockServer({ ownerId: owner(request), host: request.params.host })
        return reply.code(204).send(null)
      },
    )
  }
}
