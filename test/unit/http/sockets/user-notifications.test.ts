// The namespace of notifications without a network: authorization, order of messages, and end of sessions.

import { EventEmitter } from 'node:events'
import { describe, expect, it } from '@jest/globals'
import type { Socket } from 'socket.io'
import type { NotificationStored } from '../../../../src/actors/notification/index.ts'
import type { Session } from '../../../../src/actors/session/index.ts'
import { makeUserNotifications } from '../../../../src/http/sockets/user-notifications.ts'
import { silentLogger } from '../../../../src/platform/logger.ts'
import { until } from '../../../support/until.ts'

class FakeSocket extends EventEmitter {
  readonly handshake: { query: Record<string, unknown> }
  readonly pushed: unknown[] = []
  connected = true
  private hear = (): void => undefined

  constructor(accessToken: unknown) {
    super()
    this.handshake = { query: { accessToken } }
  }

  override emit(event: string, ...values: unknown[]): boolean {
    if (event === 'new-notification') this.pushed.push(values[0])
    return super.emit(event, ...values)
  }

  onAny(listener: () => void): void {
    this.hear = listener
  }

  say(): void {
    this.hear()
  }

  disconnect(): void {
    if (!this.connected) return
    this.connected = false
    this.emit('disconnect')
  }
}

/** Tokens are `user/session`. */
function setUp(load: (stored: NotificationStored) => Promise<object | undefined> = async (stored) => stored) {
  const over = new Set<number>()
  const requested: number[][] = []
  const loaded: NotificationStored[] = []
  let tell: (stored: NotificationStored) => void = () => undefined
  const namespace = makeUserNotifications({
    sessions: {
      async authenticate(token) {
        const [userId = 0, id = 0] = token.split('/').map(Number)
        const user: Session['user'] = {
          id: userId,
          username: 'una',
          role: 2,
          accountId: 1,
          actorId: 1,
          videoQuota: -1,
          videoQuotaDaily: -1,
        }
        return userId > 0 && !over.has(id) ? { id, user, scopes: null, nsfwPolicy: 'display', mutes: false, language: null } : null
      },
      async ended(ids) {
        requested.push([...ids])
        return ids.filter((id) => over.has(id))
      },
    },
    subscribe(listener) {
      tell = listener
      return () => {
        tell = () => undefined
      }
    },
    async load(stored) {
      loaded.push(stored)
      return await load(stored)
    },
    logger: silentLogger,
  })
  return {
    namespace,
    over,
    requested,
    loaded,
    tell: (userId: number, notificationId: number) => tell({ userId, notificationId }),
    async enter(token: unknown): Promise<FakeSocket> {
      const socket = new FakeSocket(token)
      const given = socket as unknown as Socket
      await namespace.admit(given)
      namespace.joined(given)
      return socket
    },
  }
}

describe('connections', () => {
  it.each([[undefined], [''], [['1/1', '1/1']], ['x'.repeat(201)]])('are refused with the token %j', async (token) => {
    await expect(setUp().enter(token)).rejects.toThrow('An access token is needed here.')
  })

  it('are refused with an invalid token', async () => {
    await expect(setUp().enter('0/1')).rejects.toThrow('The access token is not valid.')
  })

  it('are limited to fifty per user, and possible again when one has ended', async () => {
    const { enter, namespace } = setUp()
    const [one] = await Promise.all(Array.from({ length: 50 }, () => enter('1/1')))
    await expect(enter('1/1')).rejects.toThrow('There are too many connections.')
    await enter('2/2')
    one?.disconnect()
    await enter('1/1')
    expect(namespace.count()).toBe(51)
    namespace.close()
  })
})

describe('a pushed notification', () => {
  it('is sent to all sockets of its user, in order of publication, however long each takes to load', async () => {
    const gates = new Map<number, () => void>()
    const { enter, tell, namespace } = setUp(
      (stored) => new Promise((resolve) => gates.set(stored.notificationId, () => resolve({ id: stored.notificationId }))),
    )
    const mine = [await enter('1/1'), await enter('1/2')]
    const other = await enter('2/3')
    for (const id of [1, 2, 3]) tell(1, id)
    tell(2, 4)
    for (const id of [4, 1, 2, 3]) (await until(() => gates.get(id)))()
    await until(() => mine.every(({ pushed }) => pushed.length === 3))
    for (const { pushed } of mine) expect(pushed).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }])
    expect(other.pushed).toEqual([{ id: 4 }])
    namespace.close()
  })

  it('is sent once when it is published twice', async () => {
    const { enter, tell, loaded, namespace } = setUp()
    const socket = await enter('1/1')
    for (const id of [1, 1, 2, 1]) tell(1, id)
    await until(() => socket.pushed.length === 2)
    tell(1, 2)
    expect(loaded.map(({ notificationId }) => notificationId)).toEqual([1, 2])
    namespace.close()
  })

  it('is not loaded for a user without a socket', async () => {
    const { enter, tell, loaded, namespace } = setUp()
    const socket = await enter('1/1')
    tell(2, 1)
    socket.disconnect()
    tell(1, 2)
    expect(loaded).toEqual([])
    namespace.close()
  })

  it('is skipped when it is hidden or cannot be read; the next ones are sent', async () => {
    const { enter, tell, namespace } = setUp(async ({ notificationId }) => {
      if (notificationId === 1) throw new Error('The database is away.')
      return notificationId === 2 ? undefined : { id: notificationId }
    })
    const socket = await enter('1/1')
    for (const id of [1, 2, 3]) tell(1, id)
    await until(() => socket.pushed.length === 1)
    expect(socket.pushed).toEqual([{ id: 3 }])
    namespace.close()
  })

  it('is no longer sent after the end of the namespace', async () => {
    const { enter, tell, loaded, namespace } = setUp()
    await enter('1/1')
    namespace.close()
    tell(1, 1)
    expect(loaded).toEqual([])
  })
})

describe('the end of a session', () => {
  it('ends its sockets and no others, and is checked once for all of them', async () => {
    const { enter, over, requested, namespace } = setUp()
    const [ended, alsoEnded, staying] = [await enter('1/1'), await enter('1/1'), await enter('1/2')]
    over.add(1)
    await namespace.check()
    expect([ended, alsoEnded, staying].map((socket) => socket?.connected)).toEqual([false, false, true])
    expect(requested).toEqual([[1, 2]])
    namespace.close()
  })

  it('is not checked without sockets', async () => {
    const { requested, namespace } = setUp()
    await namespace.check()
    expect(requested).toEqual([])
  })
})

it('a client that sends anything is disconnected', async () => {
  const { enter, namespace } = setUp()
  const socket = await enter('1/1')
  socket.say()
  expect(socket.connected).toBe(false)
  expect(namespace.count()).toBe(0)
})
