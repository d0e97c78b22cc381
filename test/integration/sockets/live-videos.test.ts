// The namespace of lives in two processes: one receives the stream, and clients of the other one get its state changes.

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { io, type Socket } from 'socket.io-client'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { publish } from '../../support/live.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { eventually } from '../../support/until.ts'

const PUBLISHED = 1
const WAITING = 4
const open: Socket[] = []
let first: TestNode
let second: TestNode
let root: Client
let channelId: number

beforeAll(async () => {
  const config = {
    live: { enabled: true, max_user_lives: -1 },
    vireo: { live: { segment_duration: '1 second', reconnect_window: 0 } },
  }
  first = await startTestNode({ config })
  second = await startTestNode({ beside: first, roles: ['web'], config })
  root = await login(first.base, first.username, first.password)
  const me = await root.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  channelId = me.videoChannels[0]?.id ?? 0
})

afterEach(() => {
  for (const socket of open.splice(0)) socket.disconnect()
})

afterAll(async () => {
  await second?.stop()
  await first?.stop()
})

type Live = { id: number; uuid: string; shortUUID: string }

const create = async (fields: object = {}): Promise<Live> =>
  (
    await root.send<{ video: Live }>('POST', '/api/v1/videos/live', {
      channelId,
      name: 'A live',
      privacy: 1,
      permanentLive: true,
      ...fields,
    })
  ).video

/** Connected to the process without streams. */
async function listen(query: Record<string, string> = {}) {
  const socket = io(`${second.base}/live-videos`, { forceNew: true, query })
  open.push(socket)
  const heard: unknown[][] = []
  socket.onAny((...event: unknown[]) => heard.push(event))
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('connect_error', reject)
  })
  return { socket, heard }
}

const token = () => ({ accessToken: root.authorization.replace('Bearer ', '') })

/** A view counts as one viewer. Messages of a socket arrive in order, so the first viewer is announced after the subscriptions. */
const view = (live: Live, sessionId: string) => root.send('POST', `/api/v1/videos/${live.uuid}/views`, { currentTime: 1, sessionId })

/** Waits until the subscriptions are active: each new viewer is announced again. */
async function subscribed(live: Live, heard: unknown[][]): Promise<void> {
  let viewers = 0
  await eventually(async () => {
    viewers += 1
    await view(live, `${live.uuid} ${viewers}`)
    expect(heard).not.toEqual([])
  })
  await eventually(() => expect(heard.at(-1)).toEqual(['views-change', { viewers }]))
  heard.splice(0)
}

it('sends each new state, for any id of the live, and none after unsubscribing', async () => {
  const live = await create()
  const { streamKey } = await root.get<{ streamKey: string }>(`/api/v1/videos/live/${live.id}`)
  const names = [live.id, `${live.id}`, live.uuid, live.shortUUID]
  const clients = await Promise.all(names.map(() => listen()))
  for (const [nth, { socket }] of clients.entries()) socket.emit('subscribe', { videoId: names[nth] })
  await subscribed(live, clients[0]?.heard ?? [])
  await eventually(() => expect(clients.every(({ heard }) => heard.every(([event]) => event === 'views-change'))).toBe(true))
  for (const { heard } of clients) heard.splice(0)
  clients[3]?.socket.emit('unsubscribe', { videoId: live.id })
  await publish(`rtmp://127.0.0.1:${first.server.live.rtmp}/live/${streamKey}`, { seconds: 8, paced: true })
  for (const { heard } of clients.slice(0, 3)) {
    await eventually(() =>
      expect(heard.filter(([event]) => event === 'state-change')).toEqual([
        ['state-change', { state: PUBLISHED }],
        ['state-change', { state: WAITING }],
      ]),
    )
  }
  expect(clients[3]?.heard).toEqual([])
})

it('sends the end of a live that is blocked or removed', async () => {
  const [blocked, removed] = [await create(), await create()]
  const { socket, heard } = await listen()
  socket.emit('subscribe', { videoId: blocked.id })
  await subscribed(blocked, heard)
  await root.send('POST', `/api/v1/videos/${blocked.id}/blacklist`, {})
  await eventually(() => expect(heard).toEqual([['force-end']]))
  socket.emit('subscribe', { videoId: removed.id })
  await eventually(async () => {
    await view(removed, 'one')
    expect(heard).toContainEqual(['views-change', { viewers: 1 }])
  })
  await root.send('DELETE', `/api/v1/videos/${removed.id}`)
  await eventually(() => expect(heard.slice(1).filter(([event]) => event === 'force-end')).toHaveLength(1))
})

describe('a live that is not public', () => {
  it.each([
    ['private', { privacy: 3 }],
    ['internal', { privacy: 4 }],
    ['with a password', { privacy: 5, videoPasswords: ['password'] }],
  ])('%s is sent only to clients with a token of an authorized user', async (_what, fields) => {
    const live = await create(fields)
    const [insider, visitor] = [await listen(token()), await listen()]
    visitor.socket.emit('subscribe', { videoId: live.id })
    insider.socket.emit('subscribe', { videoId: live.id })
    await subscribed(live, insider.heard)
    expect(visitor.heard).toEqual([])
  })

  it('ends with the session, and refuses an invalid token', async () => {
    const session = await login(first.base, first.username, first.password)
    const { socket } = await listen({ accessToken: session.authorization.replace('Bearer ', '') })
    const out = new Promise<string>((resolve) => socket.once('disconnect', resolve))
    await session.send('POST', '/api/v1/users/revoke-token')
    expect(await out).toBe('io server disconnect')
    await expect(listen({ accessToken: 'f'.repeat(40) })).rejects.toThrow('The access token is not valid.')
  })
})

describe('client messages', () => {
  it.each([
    ['another event', ['anything', 1]],
    ['too many messages', ['subscribe', { videoId: 'nonsense' }]],
  ])('%s closes the connection', async (_what, [event, value]) => {
    const { socket } = await listen()
    const out = new Promise<string>((resolve) => socket.once('disconnect', resolve))
    for (let nth = 0; nth < 100; nth += 1) socket.emit(String(event), value)
    expect(await out).toBe('io server disconnect')
  })

  it('that are malformed or name unknown videos are ignored', async () => {
    const live = await create()
    const { socket, heard } = await listen()
    for (const sent of [undefined, null, 'x', 1, {}, { videoId: null }, { videoId: -1 }, { videoId: 2e9 }, { videoId: [live.id] }]) {
      socket.emit('subscribe', sent)
      socket.emit('unsubscribe', sent)
    }
    socket.emit('subscribe', { videoId: live.id })
    await subscribed(live, heard)
    expect(socket.connected).toBe(true)
  })
})
