// Every route of the server × every kind of caller → the status. A new route needs a row in `rows/`.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { TYPED_WHEN_EMPTY } from '../../../src/http/plugins/empty-json.ts'
import { type Caller, callers } from './caller.ts'
import { operationOf } from './contract.ts'
import { makeRouteFixtures, type RouteFixtures } from './fixtures.ts'
import { addressOf, contentOf } from './request.ts'
import type { Route } from './route-list.ts'
import type { Row } from './row.ts'
import { rows } from './rows/index.ts'
import { type RouteServer, startRouteServer } from './server.ts'

let stage: RouteServer

beforeAll(async () => {
  stage = await startRouteServer()
})
afterAll(async () => {
  await stage?.stop()
})

describe('the route matrix', () => {
  it('has a row for every route', () => {
    const known = new Set(rows.map(({ route }) => route))
    const missing = stage.routes.map(({ name }) => name).filter((name) => !known.has(name))
    expect(missing.map((name) => `${name}: add row('${name}', …) to a file of test/integration/routes/rows`)).toEqual([])
  })

  it('has no row without a route', () => {
    const names = new Set(stage.routes.map(({ name }) => name))
    const stale = rows.map(({ route }) => route).filter((route) => !names.has(route))
    expect(stale.map((route) => `${route}: no such route is left; remove its row`)).toEqual([])
  })

  it('has every route whose empty responses have a content type', () => {
    const names = new Set(stage.routes.map(({ name }) => name))
    expect([...TYPED_WHEN_EMPTY].filter((name) => !names.has(name))).toEqual([])
  })

  it('allows nobody more than the contract', () => {
    expect(rows.filter((row) => tooOpen(row).length > 0).map((row) => `${titleOf(row)}: ${tooOpen(row)}`)).toEqual([])
  })

  it('has no duplicate rows', () => {
    const titles = rows.map(titleOf)
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([])
  })
})

describe('responses to anonymous, user, other user, moderator, administrator and blocked user', () => {
  it.each(rows.map((row) => [titleOf(row), row] as const))('%s', async (_title, row) => {
    const route = stage.routes.find(({ name }) => name === row.route)
    if (!route) throw new Error(`There is no route ${row.route}.`)
    const fixtures = await makeRouteFixtures(stage)
    const answers = await Promise.all(callers.map((caller) => ask(fixtures, route, row, caller)))
    const surprises = answers.filter(({ caller, status }) => status !== row.statuses[caller])
    expect(surprises.map((answer) => inWords(answer, row))).toEqual([])
  })
})

function titleOf({ route, about }: Row): string {
  return about === undefined ? route : `${route}, ${about}`
}

const inWords = ({ caller, status, body }: Answer, { statuses }: Row): string =>
  `${caller}: ${statuses[caller]} expected, ${status} answered: ${body}`

/** Callers that the guard of the contract should refuse. */
function tooOpen({ route, statuses }: Row): Caller[] {
  const [method = '', url = ''] = route.split(' ')
  const { auth = 'none', right } = operationOf({ method, url }) ?? {}
  const outsiders: Caller[] = right ? ['anonymous', 'blocked', 'user', 'other'] : ['anonymous', 'blocked']
  const isGuarded = right !== undefined || ['user', 'moderator', 'admin'].includes(auth)
  return isGuarded ? outsiders.filter((caller) => statuses[caller] < 400) : []
}

interface Answer {
  caller: Caller
  status: number
  body: string
}

/** File routes return plain text instead of a problem body, as recorded. */
const OF_FILES = /^GET \/(?:client|download|static|object-storage-proxy|lazy-static)\//
const PLAIN = new Set(['Forbidden', ''])

async function ask(fixtures: RouteFixtures, route: Route, row: Row, caller: Caller): Promise<Answer> {
  const request = await row.request(fixtures, caller)
  const path = addressOf(route, request)
  const method = request.method ?? route.method
  const answer = await fixtures.send(caller, path, { method, ...contentOf(request) })
  const body = (await answer.text()).slice(0, 300)
  if (answer.status >= 400 && !(OF_FILES.test(route.name) && PLAIN.has(body))) {
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json|^text\/html/)
  }
  if (answer.status === 204) {
    const type = TYPED_WHEN_EMPTY.has(route.name) ? 'application/json; charset=utf-8' : null
    expect({ of: route.name, type: answer.headers.get('content-type') }).toEqual({ of: route.name, type })
  }
  if (method === 'GET') {
    const head = await fixtures.send(caller, path, { method: 'HEAD', ...contentOf(request) })
    expect({ of: 'HEAD', status: head.status }).toEqual({ of: 'HEAD', status: answer.status })
  }
  return { caller, status: answer.status, body }
}
