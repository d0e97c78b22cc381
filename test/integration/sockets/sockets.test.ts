// Socket.IO on two processes behind a round-robin proxy, with the options of the web client: no configured transport.

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { io, type Socket } from 'socket.io-client'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { slowness } from '../../support/cpu-time.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { run } from '../../support/postgres.ts'
import { type RoundRobin, startRoundRobin } from '../../support/round-robin.ts'
import { eventually } from '../../support/until.ts'

interface Pushed {
  id: number
  type: number
  actorFollow: { follower: { name: string } }
}

interface Listening {
  socket: Socket
  heard: Pushed[]
  transport(): string | undefined
}

const NEW_FOLLOW = 10
const open: Socket[] = []

let first: TestNode
let second: TestNode
let proxy: RoundRobin
let root: Client

beforeAll(async () => {
  // Tests create many followers, each with a notification.
  const config = { vireo: { notifications: { flood_limit: 1_000 } } }
  first = await startTestNode({ config })
  second = await startTestNode({ beside: first, roles: ['web'], config })
  proxy = await startRoundRobin({ targets: () => [first.base, second.base] })
  root = await login(first.base, first.username, first.password)
})

afterEach(() => {
  for (const socket of open.splice(0)) socket.disconnect()
})

afterAll(async () => {
  await proxy?.close()
  await second?.stop()
  await first?.stop()
})

const tokenOf = ({ authorization }: Client): string => authorization.replace('Bearer ', '')

/** A socket of the web client, unless the options say otherwise. */
function connect(
  accessToken: string | undefined,
  { base = proxy.url, namespace = '/user-notifications', ...options }: Record<string, unknown> & { base?: string } = {},
): Listening {
  const socket = io(`${base}${namespace}`, {
    forceNew: true,
    ...(accessToken === undefined ? {} : { query: { accessToken } }),
    ...options,
  })
  open.push(socket)
  const heard: Pushed[] = []
  socket.on('new-notification', (pushed: Pushed) => heard.push(pushed))
  return { socket, heard, transport: () => socket.io.engine?.transport.name }
}

/** Rejects with the server's message. */
const connected = ({ socket }: Listening): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('connect_error', reject)
  })

async function addUser(username: string): Promise<Client & { id: number }> {
  const password = 'password-of-user'
  const { user } = await root.send<{ user: { id: number } }>('POST', '/api/v1/users', {
    username,
    password,
    email: `${username}@example.org`,
    role: 2,
    videoQuota: -1,
    videoQuotaDaily: -1,
  })
  return { ...(await login(first.base, username, password)), id: user.id }
}

/** A new user follows the channel of root. */
async function follow(username: string): Promise<void> {
  const follower = await addUser(username)
  const uri = `root_channel@${new URL(first.base).host}`
  await follower.send('POST', '/api/v1/users/me/subscriptions', { uri })
}

describe('behind a round-robin proxy', () => {
  it('each default client upgrades to a WebSocket, and receives each notification once', async () => {
    const clients = Array.from({ length: 6 }, () => connect(tokenOf(root)))
    await Promise.all(clients.map(connected))
    await eventually(() => expect(clients.map((client) => client.transport())).toEqual(Array(6).fill('websocket')))
    await follow('alma')
    await follow('bela')
    for (const { heard } of clients) {
      await eventually(() =>
        expect(heard).toMatchObject([
          { type: NEW_FOLLOW, read: false, actorFollow: { follower: { name: 'alma' } } },
          { type: NEW_FOLLOW, read: false, actorFollow: { follower: { name: 'bela' } } },
        ]),
      )
    }
    const { data } = await root.get<{ data: Pushed[] }>('/api/v1/users/me/notifications?count=2')
    expect(clients[0]?.heard.toReversed()).toEqual(data)
  })

  it('a client without WebSockets receives notifications by polling, from either process', async () => {
    const clients = Array.from({ length: 4 }, () => connect(tokenOf(root), { transports: ['polling'] }))
    await Promise.all(clients.map(connected))
    await follow('cili')
    for (const { heard } of clients) {
      await eventually(() => expect(heard).toMatchObject([{ actorFollow: { follower: { name: 'cili' } } }]))
    }
    expect(clients.map((client) => client.transport())).toEqual(Array(4).fill('polling'))
  })

  it('other users receive nothing', async () => {
    const other = await addUser('dora')
    const [mine, remote] = [connect(tokenOf(root)), connect(tokenOf(other))]
    await Promise.all([connected(mine), connected(remote)])
    await follow('emil')
    await eventually(() => expect(mine.heard).toHaveLength(1))
    expect(remote.heard).toEqual([])
  })
})

describe('an unauthorized client', () => {
  it.each([
    ['without a token', undefined, '/user-notifications', 'An access token is needed here.'],
    ['with a wrong token', 'f'.repeat(40), '/user-notifications', 'The access token is not valid.'],
    ['to another namespace', 'root', '/nothing', 'Invalid namespace'],
    ['to the main namespace', 'root', '/', 'Invalid namespace'],
  ])('%s is refused with the expected error', async (_what, token, namespace, message) => {
    const client = connect(token === 'root' ? tokenOf(root) : token, { namespace })
    await expect(connected(client)).rejects.toThrow(message)
    expect(client.socket.active).toBe(false)
  })

  it('is disconnected within five seconds when the session ends, and cannot reconnect', async () => {
    const [leaving, blocked, gone, old] = await Promise.all(['fanni', 'gabi', 'hedi', 'imre'].map(addUser))
    if (!leaving || !blocked || !gone || !old) throw new Error('There are no users.')
    const staying = connect(tokenOf(root))
    const ending = [leaving, blocked, gone, old].map((user) => connect(tokenOf(user)))
    await Promise.all([...ending, staying].map(connected))
    const out = ending.map(({ socket }) => new Promise<string>((resolve) => socket.once('disconnect', resolve)))
    const begun = performance.now()
    await leaving.send('POST', '/api/v1/users/revoke-token')
    await root.send('POST', `/api/v1/users/${blocked.id}/block`)
    await root.send('DELETE', `/api/v1/users/${gone.id}`)
    await run(first.databaseUrl, `update session set access_expires_at = now() where user_id = ${old.id}`)
    expect(await Promise.all(out)).toEqual(Array(4).fill('io server disconnect'))
    expect(performance.now() - begun).toBeLessThan(5_000 * slowness())
    expect(staying.socket.connected).toBe(true)
    await expect(connected(connect(tokenOf(blocked)))).rejects.toThrow('The access token is not valid.')
  })
})

describe('invalid client input', () => {
  const handshake = async (base = first.base) => {
    const answer = await fetch(`${base}/socket.io/?EIO=4&transport=polling&accessToken=${tokenOf(root)}`)
    const text = await answer.text()
    return { answer, sid: String(JSON.parse(text.slice(1)).sid) }
  }
  const say = (sid: string, body: string, base = first.base) =>
    fetch(`${base}/socket.io/?EIO=4&transport=polling&sid=${sid}`, { method: 'POST', body })

  it('responses have the headers of the API, and set no cookie', async () => {
    const { answer } = await handshake()
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-credentials': 'false',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  it.each(['', 'x', '4', '40', '4{', '49/user-notifications,', '42/user-notifications,["a"]', '40/\u0000', '\u001e\u001e'])(
    'a malformed message %j has no effect',
    async (body) => {
      for (const base of [first.base, second.base]) {
        const { sid } = await handshake()
        await say(sid, body, base)
      }
      const client = connect(tokenOf(root))
      await connected(client)
    },
  )

  it('a large message is refused, and so is one without a session', async () => {
    const { sid } = await handshake()
    expect((await say(sid, `4${'x'.repeat(3_000)}`)).status).toBe(413)
    const { sid: other } = await handshake()
    expect((await say(other, `4${'x'.repeat(3_000)}`, second.base)).status).toBe(413)
    expect((await say('0'.repeat(64), '40')).status).toBe(400)
    expect((await say('__proto__', '40')).status).toBe(400)
  })

  it('WebSockets with malformed messages are closed', async () => {
    const address = `${proxy.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`
    for (const message of ['x', '42["a"]', new Uint8Array([1, 2, 3]), '4'.repeat(3_000)]) {
      const socket = new WebSocket(address)
      const closed = new Promise((resolve) => socket.addEventListener('close', resolve))
      socket.addEventListener('open', () => socket.send(message))
      await closed
    }
    const unknown = new WebSocket(`${address}&sid=${'0'.repeat(64)}`)
    await new Promise((resolve) => unknown.addEventListener('error', resolve))
  })

  it('a client that sends to the namespace is disconnected', async () => {
    const client = connect(tokenOf(root))
    await connected(client)
    const out = new Promise((resolve) => client.socket.once('disconnect', resolve))
    client.socket.emit('anything', 1)
    expect(await out).toBe('io server disconnect')
  })
})

it('clients of a stopping process reconnect to the other one', async () => {
  const clients = [connect(tokenOf(root)), connect(tokenOf(root)), connect(tokenOf(root), { transports: ['polling'] })]
  await Promise.all(clients.map(connected))
  const begun = performance.now()
  await second.stop()
  expect(performance.now() - begun).toBeLessThan(5_000 * slowness())
  proxy.setTargets([first.base])
  let followers = 0
  await eventually(async () => {
    followers += 1
    await follow(`jana${followers}`)
    for (const { heard } of clients) expect(heard).not.toEqual([])
  })
})
