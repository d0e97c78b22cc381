// The operations that screens name: each exists, knows its parameters, and has the filters that its list offers.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { RouteOptions } from 'fastify'
import type { Part, Screen } from '../../../src/http/pages/screens/parts.ts'
import { screens } from '../../../src/http/pages/screens/screens.ts'
import { visitorScreens } from '../../../src/http/pages/screens/visitors.ts'
import { makeBrowser } from '../../support/browser.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'

const all = [...screens, ...visitorScreens]
const operations = new Map<string, RouteOptions>()

let node: TestNode
beforeAll(async () => {
  const onRoute = (route: RouteOptions) => {
    for (const method of [route.method].flat()) operations.set(`${method} ${route.url}`, route)
  }
  node = await startTestNode({ roles: ['web'], onRoute })
})
afterAll(() => node?.stop())

const parametersOf = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)

/** What every user has a value for. */
const OWN = ['username', 'userId', 'id', 'accountName', 'name']

/** Each operation of a part, with the parameters that only the part has values for. */
function namedBy(part: Part): { operation: string; given: string[] }[] {
  if (typeof part === 'function') return []
  if ('form' in part) {
    const { operation, pieces, inPath = [] } = part
    // The parameter that the only typed one is for may have another name.
    const given = inPath.includes('id') ? parametersOf(operation) : [...inPath]
    return [operation, ...(pieces ? [pieces] : [])].map((name) => ({ operation: name, given }))
  }
  const { operation, at = {}, actions = {}, inputs } = part
  const named = Object.values(actions).map((action) => {
    const parameters = parametersOf(action.operation)
    // Two of a comment.
    return { operation: action.operation, given: part.list === 'comments' ? parameters : parameters.slice(-1) }
  })
  const ofInputs = inputs ? [{ operation: inputs.operation, given: parametersOf(inputs.operation) }] : []
  return [{ operation, given: Object.keys(at) }, ...named, ...ofInputs]
}

/** Those of a screen. The address of a read may have a query, and values of parameters. */
function namedOn({ needs, reads, readsIfAny, parts }: Screen): { operation: string; given: string[] }[] {
  const ofReads = Object.values({ ...reads, ...readsIfAny }).map((text) => {
    const address = text.replace(/\?.*/, '')
    const route = [...operations.keys()].find((name) => new RegExp(`^${name.replaceAll(/:\w+/g, '[^/]+')}$`).test(address))
    return { operation: route ?? address, given: parametersOf(route ?? '').filter((name) => !parametersOf(address).includes(name)) }
  })
  const right = needs ? [{ operation: needs, given: parametersOf(needs) }] : []
  return [...ofReads, ...right, ...parts.flatMap(namedBy)]
}

describe('each operation that a screen names', () => {
  it.each(all.map((screen) => [screen.path, screen] as const))('exists, and its parameters have values: %s', (path, screen) => {
    const known = new Set([...OWN, ...parametersOf(path)])
    // The parameter of an address may be called otherwise, if it is `id`.
    const isFree = parametersOf(path).includes('id')
    const wrong = namedOn(screen).filter(
      ({ operation, given }) =>
        !operations.has(operation) || parametersOf(operation).some((name) => !isFree && !known.has(name) && !given.includes(name)),
    )
    expect(wrong).toEqual([])
  })

  it('has the parameters that its list offers as filters, each with values to choose from', async () => {
    const lists = screens.flatMap(({ path, parts }) =>
      parts.flatMap((part) => (typeof part === 'object' && 'list' in part ? [{ path, part }] : [])),
    )
    const filtered = lists.flatMap(({ path, part }) =>
      Object.keys(part.filters ?? {}).map((name) => ({ path, name: `${part.list}.${name}` })),
    )
    const root = makeBrowser(node.base)
    await root.login(node.username, node.password)
    const offered = await Promise.all(
      filtered.map(async ({ path, name }) => {
        const [, select = ''] = new RegExp(`<select name="${name}">(.*?)</select>`).exec((await root.open(path)).html) ?? []
        return [`${path} ${name}`, [...select.matchAll(/<option[^>]*>([^<]*)/g)].map(([, text]) => text)] as const
      }),
    )
    const { '/admin/jobs jobs.jobType': kinds = [], ...others } = Object.fromEntries(offered)
    expect(kinds.length).toBeGreaterThan(20)
    expect(others).toEqual({
      '/my-library/videos videos.isLive': ['All', 'Yes', 'No'],
      '/my-library/comments comments.isHeldForReview': ['All', 'Yes', 'No'],
      '/admin/overview peers.state': ['All', 'Healthy', 'Failing', 'Dormant'],
      '/admin/follows/following following.state': ['All', 'Pending', 'Accepted', 'Rejected'],
      '/admin/follows/followers followers.state': ['All', 'Pending', 'Accepted', 'Rejected'],
      '/admin/users users.blocked': ['All', 'Yes', 'No'],
      '/admin/abuses abuses.filter': ['All', 'Video', 'Comment', 'Account'],
      '/admin/logs logs.level': ['All', 'Info and above', 'Warnings and errors', 'Errors only'],
    })
  })

  it('searches jobs of runners with one field, which keeps its text', async () => {
    const root = makeBrowser(node.base)
    await root.login(node.username, node.password)
    const { html } = await root.open('/admin/runners?jobs.search=zzz')
    expect(html.match(/name="jobs\.search"[^>]*/g)).toEqual([expect.stringMatching(/ value="zzz"$/)])
  })
})
