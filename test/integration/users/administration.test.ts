// Administration of users by the staff.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import { makeVideo } from '../../support/builders.ts'
import { startUserServer, type UserServer } from './server.ts'

const PASSWORD = 'a good password'
const ROLES = { administrator: 0, moderator: 1, user: 2 } as const

let server: UserServer
let admin: string
let serial = 0

async function add(role: 0 | 1 | 2 = 2): Promise<{ id: number; accountId: number; username: string }> {
  serial += 1
  const username = `person${serial}`
  const body = { username, password: PASSWORD, email: `${username}@example.org`, role }
  const answer = await server.ask('POST', '/api/v1/users', { token: admin, body })
  const { user } = z.object({ user: z.object({ id: z.int(), account: z.object({ id: z.int() }) }) }).parse(answer.body)
  return { id: user.id, accountId: user.account.id, username }
}
const isIn = async (token: string) => (await server.ask('GET', '/api/v1/users/me', { token })).status
const paramsOf = (body: unknown) =>
  Object.keys(z.looseObject({ 'invalid-params': z.record(z.string(), z.unknown()) }).parse(body)['invalid-params'])
const listed = async (query: Record<string, string>) => {
  const { body } = await server.ask('GET', '/api/v1/users', { token: admin, query })
  return z.object({ total: z.int(), data: z.array(z.looseObject({ id: z.int(), username: z.string() })) }).parse(body)
}

beforeAll(async () => {
  server = await startUserServer()
  admin = await server.login('root', server.rootPassword)
})
afterAll(() => server.stop())

describe('a user', () => {
  it('created without a password gets a mail to set one, and cannot log in before', async () => {
    const body = { username: 'letterless', password: '', email: 'letterless@example.org', role: 2 }
    const { status, body: made } = await server.ask('POST', '/api/v1/users', { token: admin, body })
    expect(status).toBe(200)
    const { user } = z.object({ user: z.object({ id: z.int() }) }).parse(made)
    expect(await server.mails()).toContainEqual({ mail: 'create-password', userId: user.id })
    await expect(server.login('letterless', '')).rejects.toThrow('400')
  })

  it('is created once by two simultaneous requests', async () => {
    const body = { username: 'twins', password: PASSWORD, email: 'twins@example.org', role: 2 }
    const answers = await Promise.all([1, 2].map(() => server.ask('POST', '/api/v1/users', { token: admin, body })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  it('cannot have the name of another user, ignoring case, of the instance or of a channel', async () => {
    await add()
    for (const taken of ['root', 'peertube', 'root_channel']) {
      const body = { username: taken, password: PASSWORD, email: 'new@example.org', role: 2 }
      expect((await server.ask('POST', '/api/v1/users', { token: admin, body })).status).toBe(409)
    }
    const body = { username: 'new', password: PASSWORD, email: `PERSON${serial}@EXAMPLE.org`, role: 2 }
    expect((await server.ask('POST', '/api/v1/users', { token: admin, body })).status).toBe(409)
    const same = { username: 'new', password: PASSWORD, email: 'new@example.org', role: 2, channelName: 'new' }
    expect((await server.ask('POST', '/api/v1/users', { token: admin, body: same })).status).toBe(400)
  })

  it('with invalid fields is refused with all of them, and nothing is stored', async () => {
    const body = {
      username: 'Not Good',
      password: 'short',
      email: 'nowhere',
      role: 'x',
      videoQuota: -2,
      videoQuotaDaily: 1.5,
      channelName: 'a b',
      adminFlags: true,
    }
    const { status, body: refusal } = await server.ask('POST', '/api/v1/users', { token: admin, body })
    expect(status).toBe(400)
    expect(paramsOf(refusal).sort()).toEqual(Object.keys(body).sort())
    const { id } = await add()
    const changes = { email: 5, emailVerified: 'yes', videoQuota: null, role: 3, adminFlags: 2, password: ['x'] }
    const url = `/api/v1/users/${id}`
    const before = await server.ask('GET', url, { token: admin })
    const changed = await server.ask('PUT', url, { token: admin, body: changes })
    expect(changed.status).toBe(400)
    expect(paramsOf(changed.body).sort()).toEqual(Object.keys(changes).sort())
    expect(await server.ask('GET', url, { token: admin })).toEqual(before)
  })

  it('is changed in the given fields, and cannot get the address of another user', async () => {
    const { id, username } = await add()
    const url = `/api/v1/users/${id}`
    const changes = { emailVerified: true, videoQuota: 5, videoQuotaDaily: 3, adminFlags: 1, pluginAuth: 'a plugin' }
    expect((await server.ask('PUT', url, { token: admin, body: { ...changes, unknown: 1 } })).status).toBe(204)
    expect((await server.ask('PUT', url, { token: admin, body: { email: 'admin@example.com' } })).status).toBe(409)
    const { body } = await server.ask('GET', url, { token: admin })
    expect(body).toMatchObject({ ...changes, email: `${username}@example.org`, role: { id: 2, label: 'User' } })
  })
})

describe('sessions', () => {
  it('of a blocked user end at once, and the user cannot log in until unblocked', async () => {
    const { id, username } = await add()
    const tokens = [await server.login(username, PASSWORD), await server.login(username, PASSWORD)]
    const block = (reason: string | null) => server.ask('POST', `/api/v1/users/${id}/block`, { token: admin, body: { reason } })
    expect((await block('spam')).status).toBe(204)
    for (const token of tokens) expect(await isIn(token)).toBe(401)
    await expect(server.login(username, PASSWORD)).rejects.toThrow('400 access_denied')
    expect((await server.ask('GET', `/api/v1/users/${id}`, { token: admin })).body).toMatchObject({
      blocked: true,
      blockedReason: 'spam',
    })
    expect((await block(null)).status).toBe(204)
    expect((await server.ask('POST', `/api/v1/users/${id}/unblock`, { token: admin })).status).toBe(204)
    expect((await server.ask('POST', `/api/v1/users/${id}/unblock`, { token: admin })).status).toBe(204)
    expect((await server.ask('GET', `/api/v1/users/${id}`, { token: admin })).body).toMatchObject({
      blocked: false,
      blockedReason: null,
    })
    for (const token of tokens) expect(await isIn(token)).toBe(401)
    expect(await isIn(await server.login(username, PASSWORD))).toBe(200)
    const told = (await server.mails()).filter((mail) => mail.userId === id).map(({ mail }) => mail)
    expect(told).toEqual(['user-blocked', 'user-blocked', 'user-unblocked'])
  })

  it('end with a new password, except the one that set it', async () => {
    const { id, username } = await add(ROLES.administrator)
    const [own, other] = [await server.login(username, PASSWORD), await server.login(username, PASSWORD)]
    const change = (token: string, password: string) => server.ask('PUT', `/api/v1/users/${id}`, { token, body: { password } })
    expect((await change(own, 'another password')).status).toBe(204)
    expect([await isIn(own), await isIn(other)]).toEqual([200, 401])
    expect((await change(admin, 'a third password')).status).toBe(204)
    expect(await isIn(own)).toBe(401)
    await expect(server.login(username, PASSWORD)).rejects.toThrow('400')
    expect(await isIn(await server.login(username, 'a third password'))).toBe(200)
  })

  it('of a user with a new role have its rights at once', async () => {
    const { id, username } = await add(ROLES.moderator)
    const token = await server.login(username, PASSWORD)
    expect((await server.ask('GET', '/api/v1/users', { token })).status).toBe(200)
    expect((await server.ask('PUT', `/api/v1/users/${id}`, { token: admin, body: { role: 2 } })).status).toBe(204)
    expect((await server.ask('GET', '/api/v1/users', { token })).status).toBe(403)
  })
})

describe('management of users', () => {
  type Who = keyof typeof ROLES
  const everybody: Who[] = ['administrator', 'moderator', 'user']
  const managed: Record<Who, Who[]> = { administrator: everybody, moderator: ['user'], user: [] }
  const pairs = everybody.flatMap((by) => everybody.map((of) => ({ by, of, may: managed[by].includes(of) })))

  it.each(pairs)('$by, $of: $may', async ({ by, of, may }) => {
    const manager = await add(ROLES[by])
    const token = await server.login(manager.username, PASSWORD)
    const { id } = await add(ROLES[of])
    const url = `/api/v1/users/${id}`
    const statuses = [
      (await server.ask('PUT', url, { token, body: { videoQuota: 1 } })).status,
      (await server.ask('POST', `${url}/block`, { token, body: {} })).status,
      (await server.ask('POST', `${url}/unblock`, { token })).status,
      (await server.ask('DELETE', url, { token })).status,
    ]
    expect(statuses).toEqual(may ? [204, 204, 204, 204] : [403, 403, 403, 403])
    serial += 1
    const body = { username: `made${serial}`, password: PASSWORD, email: `made${serial}@example.org`, role: ROLES[of] }
    expect((await server.ask('POST', '/api/v1/users', { token, body })).status).toBe(may ? 200 : 403)
  })

  it('no moderator makes anybody a moderator or an administrator, including themselves', async () => {
    const moderator = await add(ROLES.moderator)
    const token = await server.login(moderator.username, PASSWORD)
    const { id } = await add()
    for (const role of [0, 1]) {
      expect((await server.ask('PUT', `/api/v1/users/${id}`, { token, body: { role } })).status).toBe(403)
    }
    const url = `/api/v1/users/${moderator.id}`
    expect((await server.ask('PUT', url, { token, body: { role: 0 } })).status).toBe(403)
  })

  it('nobody demotes, blocks or removes root', async () => {
    const other = await add(ROLES.administrator)
    for (const token of [admin, await server.login(other.username, PASSWORD)]) {
      const statuses = [
        (await server.ask('PUT', '/api/v1/users/1', { token, body: { role: 1 } })).status,
        (await server.ask('POST', '/api/v1/users/1/block', { token, body: {} })).status,
        (await server.ask('DELETE', '/api/v1/users/1', { token })).status,
      ]
      expect(statuses).toEqual([400, 400, 400])
    }
    expect((await server.ask('DELETE', '/api/v1/users/me', { token: admin })).status).toBe(400)
    expect(await isIn(admin)).toBe(200)
  })
})

describe('the list of users', () => {
  it('has statistics of users, and is sorted by them', async () => {
    const [rich, poor] = [await add(), await add()]
    const [channel] = await server.db.query<{ id: number }>('select id from channel where account_id = $1', [rich.accountId])
    const made = await makeVideo(server.db, { channelId: channel?.id ?? 0, webVideo: { resolution: 240 } })
    await server.db.query(`insert into video_source (video_id, input_filename, kept_filename, size) values ($1, 'a', 'b.mp4', 1000)`, [
      made.id,
    ])
    await server.db.query('insert into comment (video_id, account_id, url, text) values ($1, $2, $3, $4)', [
      made.id,
      rich.accountId,
      'http://localhost/c',
      'text',
    ])
    const usage = { totalVideoFileSize: 31_175, videoQuotaUsed: 31_175, videoQuotaUsedDaily: 31_175 }
    const { data } = await listed({ sort: '-videoQuotaUsed', count: '1' })
    expect(data).toMatchObject([{ id: rich.id, ...usage, videoChannels: [] }])
    const query = { withStats: 'true' }
    expect((await server.ask('GET', `/api/v1/users/${rich.id}`, { token: admin, query })).body).toMatchObject({
      ...usage,
      videosCount: 1,
      videoCommentsCount: 1,
      videoChannels: [{ id: channel?.id }],
    })
    expect((await server.ask('GET', `/api/v1/users/${poor.id}`, { token: admin, query })).body).toMatchObject({
      videoQuotaUsed: 0,
      videosCount: 0,
      videoCommentsCount: 0,
    })
  })

  it('finds names and addresses by substrings without wildcards, and has a total beyond its end', async () => {
    const { username } = await add()
    expect(await listed({ search: username.toUpperCase() })).toMatchObject({ total: 1, data: [{ username }] })
    expect(await listed({ search: `${username}@example` })).toMatchObject({ total: 1 })
    expect(await listed({ search: '%' })).toEqual({ total: 0, data: [] })
    const all = await listed({ count: '0' })
    expect(all.data).toEqual([])
    expect(await listed({ start: '10000' })).toEqual({ total: all.total, data: [] })
  })

  it('sorts users who never logged in first, and last in descending order', async () => {
    const present = await add()
    await server.login(present.username, PASSWORD)
    const never = await add()
    const ids = async (sort: string) => (await listed({ sort, count: '100' })).data.map((user) => user.id)
    const order = (all: number[]) => all.indexOf(never.id) - all.indexOf(present.id)
    expect(order(await ids('lastLoginDate'))).toBeLessThan(0)
    expect(order(await ids('-lastLoginDate'))).toBeGreaterThan(0)
  })

  it('suggests at most ten names by a substring', async () => {
    const { username } = await add()
    const names = async (search: string) => (await server.ask('GET', '/api/v1/users/autocomplete', { query: { search } })).body
    expect(await names(username)).toEqual([username])
    expect(await names('person')).toHaveLength(10)
    expect(await names('_')).not.toContain('root')
  })
})
