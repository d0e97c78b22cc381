// The namespace `/user-notifications`: pushes notifications to each socket that authenticated with a token of their user. A socket ends
// with the session of its token.

import pLimit from 'p-limit'
import type { Socket } from 'socket.io'
import type { NotificationStored } from '../../actors/notification/index.ts'
import type { Session } from '../../actors/session/index.ts'
import type { Logger } from '../../platform/logger.ts'
import { makePlaces } from './connection-slots.ts'
import { Refused, type SocketNamespace, type SocketSessions, sessionIn } from './namespaces.ts'
import { makeRepeated } from './repeat.ts'

export interface UserNotificationsDeps {
  sessions: SocketSessions
  /** Subscribes to notifications stored by any process; returns the function that unsubscribes. */
  subscribe(listener: (stored: NotificationStored) => void): () => void
  /** As clients read it; undefined if the user may not see it (any more). */
  load(stored: NotificationStored): Promise<object | undefined>
  logger: Logger
  /** How often sessions are checked, in ms. */
  checkEveryMs?: number
}

export interface UserNotifications extends SocketNamespace {
  /** Ends the sockets whose session has ended: for a revoked or expired token, or a blocked or removed user. */
  check(): Promise<void>
}

/** With the duration of the statement, well within 5 s. */
const CHECK_EVERY_MS = 2_000
const MAX_OF_A_USER = 50
/** Per user and process, each by its id. */
const MAX_WAITING = 200
const MAX_REMEMBERED = 50
/** Concurrent statements. */
const LOADS = 4

interface Listener {
  /** With the session of each. */
  sockets: Map<Socket, number>
  waiting: NotificationStored[]
  isPushing: boolean
  /** The latest pushed ones: the bus may deliver one twice. */
  recent: number[]
}

export function makeUserNotifications(deps: UserNotificationsDeps): UserNotifications {
  const { sessions, subscribe, load, logger, checkEveryMs = CHECK_EVERY_MS } = deps
  const listeners = new Map<number, Listener>()
  const admitted = new WeakMap<Socket, Session>()
  const places = makePlaces<number>({ mostOfOne: MAX_OF_A_USER })
  const loading = pLimit(LOADS)
  const checks = makeRepeated({
    work: check,
    isNeeded: () => listeners.size > 0,
    everyMs: checkEveryMs,
    logger,
    failure: 'the sessions of sockets could not be looked at',
  })

  // Without sockets nothing is read.
  const unsubscribe = subscribe((stored) => {
    const listener = listeners.get(stored.userId)
    if (listener) hear(listener, stored)
  })

  function hear(listener: Listener, stored: NotificationStored): void {
    const { recent, waiting } = listener
    if (recent.includes(stored.notificationId) || waiting.length >= MAX_WAITING) return
    recent.push(stored.notificationId)
    if (recent.length > MAX_REMEMBERED) recent.shift()
    waiting.push(stored)
    if (!listener.isPushing) void push(listener)
  }

  /** One after another, in the order in which they were stored. */
  async function push(listener: Listener): Promise<void> {
    const { sockets, waiting } = listener
    listener.isPushing = true
    for (let stored = waiting.shift(); stored && sockets.size > 0; stored = waiting.shift()) {
      const asked = stored
      try {
        const view = await loading(() => load(asked))
        if (view) for (const socket of sockets.keys()) socket.emit('new-notification', view)
      } catch (error) {
        // It stays in the user's list in any case.
        logger.warn({ err: error, ...asked }, 'a notification could not be pushed')
      }
    }
    listener.isPushing = false
  }

  async function check(): Promise<void> {
    const open = [...listeners.values()].flatMap(({ sockets }) => [...sockets.values()])
    if (open.length === 0) return
    const ended = new Set(await sessions.ended([...new Set(open)]))
    if (ended.size === 0) return
    for (const { sockets } of [...listeners.values()]) {
      for (const [socket, sessionId] of sockets) if (ended.has(sessionId)) socket.disconnect()
    }
  }

  return {
    name: '/user-notifications',
    check,
    count: () => [...listeners.values()].reduce((sum, { sockets }) => sum + sockets.size, 0),
    async admit(socket) {
      const session = await sessionIn(socket, sessions)
      if (!session) throw new Refused('An access token is needed here.')
      if (!places.hasPlace(session.user.id)) throw new Refused('There are too many connections.')
      admitted.set(socket, session)
    },
    joined(socket) {
      const session = admitted.get(socket)
      if (!session) return void socket.disconnect()
      const { id: userId } = session.user
      const listener = listeners.get(userId) ?? { sockets: new Map(), waiting: [], isPushing: false, recent: [] }
      const leave = places.take(userId)
      listeners.set(userId, listener)
      listener.sockets.set(socket, session.id)
      socket.once('disconnect', () => {
        leave()
        listener.sockets.delete(socket)
        if (listener.sockets.size === 0 && listeners.get(userId) === listener) listeners.delete(userId)
      })
      // Clients must not send anything here.
      socket.onAny(() => socket.disconnect())
      checks.start()
    },
    close() {
      checks.stop()
      unsubscribe()
    },
  }
}
