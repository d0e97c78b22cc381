// Changes by users of their own account: settings, name, address, password, notification settings.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { addUser, openDatabase, PASSWORD, type Query } from './users.ts'

interface Me {
  id: number
  email: string
  pendingEmail: string | null
  emailVerified: boolean | null
  nsfwPolicy: string
  videoLanguages: string[] | null
  account: { displayName: string; description: string | null }
  notificationSettings: Record<string, number>
}

let node: TestNode
let query: Query
let close: () => Promise<void>

beforeAll(async () => {
  node = await startTestNode()
  ;({ query, close } = await openDatabase(node))
})
afterAll(async () => {
  await close?.()
  await node?.stop()
})

let users = 0
const newUser = async () => (await addUser(node, query, { username: `someone${++users}` })).client
const me = (client: Client) => client.get<Me>('/api/v1/users/me')
const put = (client: Client, body: unknown) =>
  client.raw('/api/v1/users/me', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

describe('a password', () => {
  it('that is changed ends all other sessions', async () => {
    const client = await newUser()
    const { id } = await me(client)
    const other = await login(node.base, `someone${users}`, PASSWORD)
    expect((await put(client, { password: 'new password', currentPassword: PASSWORD })).status).toBe(204)
    expect((await other.raw('/api/v1/users/me')).status).toBe(401)
    expect(await me(client)).toMatchObject({ id })
    await expect(login(node.base, `someone${users}`, PASSWORD)).rejects.toThrow('400')
    await login(node.base, `someone${users}`, 'new password')
  })

  it('is unchanged, with all other fields, when the current one is missing or wrong', async () => {
    const client = await newUser()
    const before = await me(client)
    const changes = { password: 'new password', displayName: 'Somebody else', nsfwPolicy: 'blur' }
    expect((await put(client, changes)).status).toBe(400)
    expect((await put(client, { ...changes, currentPassword: 'not this one' })).status).toBe(401)
    expect(await me(client)).toEqual(before)
    await login(node.base, `someone${users}`, PASSWORD)
  })
})

describe('an email address', () => {
  it('is replaced at once where addresses are not verified', async () => {
    const client = await newUser()
    const wanted = `other${users}@example.com`
    expect((await put(client, { email: wanted })).status).toBe(400)
    expect((await put(client, { email: wanted, currentPassword: PASSWORD })).status).toBe(204)
    expect(await me(client)).toMatchObject({ email: wanted, pendingEmail: null, emailVerified: null })
    await login(node.base, wanted, PASSWORD)
  })

  it('of another user is refused with its field', async () => {
    const { email } = await me(await newUser())
    const client = await newUser()
    const answer = await put(client, { email: email.toUpperCase(), currentPassword: PASSWORD })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ 'invalid-params': { email: { location: 'body' } } })
    expect(await me(client)).toMatchObject({ email: `someone${users}@example.com`, pendingEmail: null })
  })
})

describe('settings', () => {
  it('are returned, with null where the contract has it', async () => {
    const client = await newUser()
    await put(client, { displayName: 'Some One', description: 'about me', videoLanguages: ['en', '_unknown'] })
    expect(await me(client)).toMatchObject({
      account: { displayName: 'Some One', description: 'about me' },
      videoLanguages: ['en', '_unknown'],
    })
    await put(client, { displayName: null, description: null, videoLanguages: null })
    expect(await me(client)).toMatchObject({
      account: { displayName: `someone${users}`, description: null },
      videoLanguages: null,
    })
  })

  it('accept the older field for sensitive videos', async () => {
    const client = await newUser()
    await put(client, { displayNSFW: 'false' })
    expect((await me(client)).nsfwPolicy).toBe('do_not_list')
    await put(client, { displayNSFW: 'false', nsfwPolicy: 'blur' })
    expect((await me(client)).nsfwPolicy).toBe('blur')
  })

  it.each(['do_not_list', 'warn', 'blur', 'display'])('may choose %s for sensitive videos', async (nsfwPolicy) => {
    const client = await newUser()
    await put(client, { nsfwPolicy })
    expect((await me(client)).nsfwPolicy).toBe(nsfwPolicy)
  })

  const long = 'x'.repeat(50_000)
  const wrong = [null, 1, -1, '', 'hello', 'true', long, [], [1], {}, { a: 1 }, 'nul\0', '\ud800']
  const flags = ['emailPublic', 'p2pEnabled', 'autoPlayVideo', 'autoPlayNextVideo', 'autoPlayNextVideoPlaylist']
  const more = ['videosHistoryEnabled', 'noWelcomeModal', 'noInstanceConfigWarningModal', 'noAccountSetupWarningModal']
  const noFlags = wrong.filter((value) => value !== 'true')
  const fields: Record<string, unknown[]> = {
    ...Object.fromEntries([...flags, ...more].map((name) => [name, noFlags])),
    theme: [...wrong, true, 'peertube-theme-none'],
    nsfwPolicy: [...wrong, true],
    displayNSFW: noFlags,
    displayName: [1, '', long, 'x'.repeat(121), [], {}, true, 'nul\0'],
    description: [1, '', 'xx', long, 'x'.repeat(1001), [], {}, true, 'nul\0'],
    videoLanguages: [1, 'en', {}, [1], [null], [''], Array(500).fill('en'), true, [long]],
    email: [...wrong, 'a@b', 'a b@example.com', true],
    password: [null, 1, '', 'short', long, [], {}, true],
  }

  it.each(Object.keys(fields))('name %s when it is invalid, and nothing changes', async (name) => {
    const client = await newUser()
    const before = await me(client)
    for (const value of fields[name] ?? []) {
      const answer = await put(client, { displayName: 'Changed', currentPassword: PASSWORD, [name]: value })
      const what = JSON.stringify(value)?.slice(0, 50)
      expect({ what, status: answer.status }).toEqual({ what, status: 400 })
      expect(Object.keys((await answer.json())['invalid-params'] ?? {})).toEqual([name])
    }
    expect(await me(client)).toEqual(before)
  })

  it('name all invalid fields at once, and ignore unknown ones', async () => {
    const client = await newUser()
    const answer = await put(client, { theme: 1, email: 'x', p2pEnabled: 'yes', unknown: 1 })
    expect(Object.keys((await answer.json())['invalid-params']).sort()).toEqual(['email', 'p2pEnabled', 'theme'])
    expect((await put(client, { unknown: 1 })).status).toBe(204)
  })
})

it('keeps omitted notification settings', async () => {
  const client = await newUser()
  const { notificationSettings: before } = await me(client)
  const requested = [
    'newVideoFromSubscription',
    'newCommentOnMyVideo',
    'abuseAsModerator',
    'videoAutoBlacklistAsModerator',
    'blacklistOnMyVideo',
    'myVideoImportFinished',
    'myVideoPublished',
    'commentMention',
    'newFollow',
    'newUserRegistration',
    'newInstanceFollower',
    'autoInstanceFollowing',
  ]
  const all = Object.fromEntries(requested.map((name) => [name, 0]))
  await client.send('PUT', '/api/v1/users/me/notification-settings', { ...all, abuseStateChange: 2 })
  await client.send('PUT', '/api/v1/users/me/notification-settings', { ...all, newFollow: 3 })
  const { notificationSettings: after } = await me(client)
  expect(after).toEqual({ ...before, ...all, newFollow: 3, abuseStateChange: 2 })
})
