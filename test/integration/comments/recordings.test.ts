// Recorded exchanges about comments and ratings, played in their order: every answer is the same to the last member.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import { type MadeVideo, makeVideo, TEST_ORIGIN } from '../../support/builders.ts'
import { as, type CommentServer, startCommentServer } from './server.ts'

const exchange = z.object({
  area: z.string(),
  name: z.string(),
  as: z.string(),
  request: z.object({
    method: z.enum(['GET', 'POST', 'PUT', 'DELETE']),
    path: z.string(),
    query: z.record(z.string(), z.union([z.string(), z.int()])).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    body: z.record(z.string(), z.unknown()).optional(),
  }),
  response: z.object({ status: z.int(), body: z.unknown() }),
  capture: z.record(z.string(), z.string()).optional(),
})
const file = new URL('../../fixtures/recordings/comments.json', import.meta.url)
const exchanges = z.array(exchange).parse(JSON.parse(readFileSync(file, 'utf8')))

/** One letter more than a comment may have. */
const LONG = 'h'.repeat(10_001)

/** The rows of an area, with the ids that they had on the recorded server. */
interface Scene {
  area: string
  firstIds: { users: number; account: number; video: number; comment: number }
  users: Record<string, 0 | 1 | 2>
  /** Columns of the videos, by their names in the exchanges. */
  videos: Record<string, { columns?: Record<string, unknown>; passwords?: string[] }>
}

const scenes: Scene[] = [
  {
    area: 'comments',
    firstIds: { users: 43, account: 46, video: 37, comment: 2 },
    users: { moderator: 1, user: 2, user2: 2 },
    videos: {
      v1: {},
      vp: { columns: { privacy: 3 } },
      voff: { columns: { comments_policy: 2 } },
      vapp: { columns: { comments_policy: 3 } },
    },
  },
  {
    area: 'videos',
    firstIds: { users: 1, account: 1, video: 27, comment: 1 },
    users: { user: 2, user2: 2 },
    videos: { v1: {}, v2: {}, vprivate: { columns: { privacy: 3 } } },
  },
  {
    area: 'video-passwords-tokens',
    firstIds: { users: 48, account: 51, video: 45, comment: 10 },
    users: { user: 2, user2: 2 },
    videos: { v1: { columns: { privacy: 5 }, passwords: ['first password'] } },
  },
]

describe.each(scenes)('the recorded exchanges of $area', ({ area, firstIds, users, videos }) => {
  let server: CommentServer
  const values = new Map<string, string>([['long', LONG]])
  const made: MadeVideo[] = []
  const prefix = area.replaceAll('-', '_')

  beforeAll(async () => {
    server = await startCommentServer()
    for (const [table, id] of Object.entries(firstIds)) {
      await server.db.query(`alter table ${table} alter column id restart with ${id}`)
    }
    let channelId = 0
    for (const [name, role] of Object.entries(users)) {
      const user = await server.addUser(`${prefix}_${name}`, role)
      if (name === 'user') channelId = user.channelId
    }
    for (const [name, options] of Object.entries(videos)) {
      const video = await makeVideo(server.db, { channelId, bare: true, ...options })
      values.set(name, video.uuid)
      made.push(video)
    }
  })
  afterAll(() => server.stop())

  const filled = (text: string): string => text.replace(/\{\{([^}]+)\}\}/g, (_, name: string) => values.get(name) ?? '?')

  function masked(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(masked)
    if (value !== null && typeof value === 'object') {
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, masked(item)]))
    }
    if (typeof value !== 'string') return value
    // Values that are too long are not echoed.
    if (value === '{{long}}' || (value.length > 100 && LONG.startsWith(value.slice(0, -1)))) return '{{long}}'
    if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return '{{date}}'
    const plain = value.replaceAll(TEST_ORIGIN, '{{base}}').replaceAll(new URL(TEST_ORIGIN).host, '{{host}}')
    return made.reduce((text, video, index) => text.replaceAll(video.uuid, `{{uuid:${index + 1}}}`), plain)
  }

  it.each(exchanges.filter((one) => one.area === area))('$name', async ({ name, request, response, ...rest }) => {
    if (name === 'approval: anonymous list after approval') {
      await server.db.query('update comment set held_for_review = false')
    }
    const { method, path, query = {}, headers = {}, body } = request
    const answer = await server.app.inject({
      method,
      url: filled(path),
      query: Object.fromEntries(Object.entries(query).map(([key, value]) => [key, String(value)])),
      headers: { ...headers, ...(rest.as === 'anonymous' ? {} : as(`${prefix}_${rest.as}`)) },
      ...(body ? { payload: z.record(z.string(), z.unknown()).parse(JSON.parse(filled(JSON.stringify(body)))) } : {}),
    })
    expect(answer.statusCode).toBe(response.status)
    if (response.status === 204) return expect(answer.body).toBe('')
    const found: unknown = answer.json()
    for (const variable of Object.keys(rest.capture ?? {})) {
      values.set(variable, String(z.object({ comment: z.object({ id: z.int() }) }).parse(found).comment.id))
    }
    const compared = response.status === 200 ? masked : (value: unknown) => refusal(masked(value))
    expect(compared(found)).toEqual(compared(response.body))
  })
})

/** A problem body without its title, which the recorded one lacks, and without the wording of single parameters. */
function refusal(body: unknown) {
  const { title: _, 'invalid-params': params, ...members } = z.looseObject({}).parse(body)
  const named = z.record(z.string(), z.looseObject({})).optional().parse(params)
  return { ...members, params: named && Object.entries(named).map(([name, one]) => [name, { ...one, msg: '' }]) }
}
