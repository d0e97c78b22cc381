// Lists of watched words: of the instance below `/watched-words/server`, of each account below `/watched-words/accounts`.

import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { notFound } from '../../actors/runtime/index.ts'
import {
  type ListOwner,
  listWatchedWords,
  readWatchedWords,
  summarizeWatchedWords,
  type WatchedWords,
  type WatchedWordsRow,
  type WatchedWordsSummary,
  watchedWordsSorts,
} from '../../actors/watched-words/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { ownAccountCalled } from '../plugins/own-account.ts'
import { idText, listOf, paging, readable, sorting } from '../plugins/schemas.ts'
import type { App, Area } from '../plugins/types.ts'
import type { Here } from '../videos/actor.view.ts'

const tags = ['Watched Words']
const NAME = 'Should have a list name of 1 to 100 characters'
const WORDS = 'Should have 1 to 500 words of 1 to 100 characters each'

const text = (wrong: string) => readable(z.string(wrong).min(1, wrong).max(100, wrong), wrong)
const listBody = z.object({
  // Refusals echo a missing name as an empty one, as clients expect.
  listName: z.preprocess((sent) => (sent === undefined ? '' : sent), text(NAME)),
  words: z.array(text(WORDS), WORDS).min(1, WORDS).max(500, WORDS),
})
const added = z.object({ watchedWordsList: z.object({ id: z.int() }) })

const listView = z
  .object({
    id: z.int(),
    listName: z.string(),
    words: z.array(z.string()),
    updatedAt: z.iso.datetime(),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'WatchedWordsLists' })

const summaryView = listView.omit({ words: true }).extend({ count: z.int(), beginning: z.string() }).meta({ id: 'WatchedWordsSummary' })

/** The owner of the lists. */
interface Side {
  /** Below `/api/v1`; what PeerTube does not have is below `/api/v1/vireo`. */
  path: string
  config: Pick<FastifyContextConfig, 'auth' | 'right'>
  params: z.ZodRawShape
  owner: (request: FastifyRequest) => Promise<ListOwner>
}

export function watchedWordsArea(deps: { db: Database; config: () => Config; urls: Here; watchedWords: WatchedWords }): Area {
  const { db, config, watchedWords } = deps
  const ofAccount = z.object({ accountName: z.string() })

  return (app) => {
    addRoutes(app, {
      path: '/watched-words/server/lists',
      config: { right: 'MANAGE_INSTANCE_WATCHED_WORDS' },
      params: {},
      owner: async () => null,
    })
    addRoutes(app, {
      path: '/watched-words/accounts/:accountName/lists',
      config: { auth: 'user' },
      params: ofAccount.shape,
      owner: async (request) => await ownAccountCalled(deps, ofAccount.parse(request.params).accountName, sessionOf(request)),
    })
  }

  function addRoutes(app: App, { path: below, config: demand, params, owner }: Side): void {
    const [path, ownPath] = [`/api/v1${below}`, `/api/v1/vireo${below}`]
    const operation = params.accountName ? 'AccountWatchedWords' : 'ServerWatchedWords'
    const querystring = z.object({ ...paging(config()), sort: sorting(watchedWordsSorts, '-createdAt') })
    const byList = z.object({ ...params, listId: idText })
    const listIdOf = (request: FastifyRequest): number => z.object({ listId: z.number() }).parse(request.params).listId

    app.get(
      path,
      {
        config: demand,
        schema: {
          tags,
          params: z.object(params),
          querystring,
          response: { 200: listOf(listView) },
        },
      },
      async (request) => {
        const { total, rows } = await listWatchedWords(db, { ownerId: await owner(request), ...request.query })
        return { total, data: rows.map(toListView) }
      },
    )

    app.get(
      ownPath,
      {
        config: demand,
        schema: {
          operationId: `summarize${operation}`,
          summary: 'List the lists of watched words with the number of their words and the first ones',
          tags,
          params: z.object(params),
          querystring,
          response: { 200: listOf(summaryView) },
        },
      },
      async (request) => {
        const { total, rows } = await summarizeWatchedWords(db, { ownerId: await owner(request), ...request.query })
        return { total, data: rows.map(toSummaryView) }
      },
    )

    app.get(
      `${ownPath}/:listId`,
      {
        config: demand,
        schema: {
          operationId: `get${operation}`,
          summary: 'Get a list of watched words',
          tags,
          params: byList,
          response: { 200: listView },
        },
      },
      async (request) => {
        const found = await readWatchedWords(db, { ownerId: await owner(request), id: listIdOf(request) })
        if (!found) throw notFound('There is no such list of watched words.')
        return toListView(found)
      },
    )

    app.post(
      path,
      { config: demand, schema: { tags, params: z.object(params), body: listBody, response: { 200: added } } },
      async (request) => {
        const { listName: name, words } = request.body
        return { watchedWordsList: { id: await watchedWords.add(await owner(request), { name, words }) } }
      },
    )

    app.put(
      `${path}/:listId`,
      { config: demand, schema: { tags, params: byList, body: listBody, response: { 204: z.null() } } },
      async (request, reply) => {
        const { listName: name, words } = request.body
        await watchedWords.update(await owner(request), listIdOf(request), { name, words })
        return reply.code(204).send(null)
      },
    )

    app.delete(
      `${path}/:listId`,
      { config: demand, schema: { tags, params: byList, response: { 204: z.null() } } },
      async (request, reply) => {
        await watchedWords.remove(await owner(request), listIdOf(request))
        return reply.code(204).send(null)
      },
    )
  }
}

const toListView = (row: Head & Pick<WatchedWordsRow, 'words'>): z.infer<typeof listView> => ({ ...headOf(row), words: row.words })

const toSummaryView = (row: WatchedWordsSummary): z.infer<typeof summaryView> => ({
  ...headOf(row),
  count: row.count,
  beginning: row.beginning,
})

type Head = Pick<WatchedWordsRow, 'id' | 'name'> & Record<'updated_at' | 'created_at', Date | string>

const headOf = (row: Head) => ({
  id: row.id,
  listName: row.name,
  updatedAt: new Date(row.updated_at).toISOString(),
  createdAt: new Date(row.created_at).toISOString(),
})
