// The namespace `/live-videos`: clients subscribe to lives, and receive their new state and number of viewers, or that they were taken down.
// Each process compares the rows of the lives that its clients watch: at once when the bus reports a change, and periodically.

import pLimit from 'p-limit'
import type { Socket } from 'socket.io'
import { z } from 'zod'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Session } from '../../actors/session/index.ts'
import { assertFollowed, assertMaySee, type LiveStatusRow, labelledState } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Logger } from '../../platform/logger.ts'
import { type IdOrUuid, idOrUuidInJson } from '../plugins/schemas.ts'
import { viewerOf } from '../videos/viewer.ts'
import { type SocketNamespace, type SocketSessions, sessionIn } from './namespaces.ts'
import { makeRepeated } from './repeat.ts'

export interface LiveVideosDeps {
  sessions: SocketSessions
  config: () => Config
  /** Subscribes to changes of videos by any process; without an id any video may have changed. Returns the function that unsubscribes. */
  subscribe(listener: (videoId: number | undefined) => void): () => void
  /** The id of a video; undefined for an unknown UUID. */
  findId(key: IdOrUuid): Promise<number | undefined>
  /** Those of these videos that exist. */
  load(videoIds: readonly number[]): Promise<LiveStatusRow[]>
  logger: Logger
  /** How often watched lives and sessions are checked, in ms. */
  checkEveryMs?: number
}

export interface LiveVideos extends SocketNamespace {
  /** Compares all watched lives with their rows, and ends the sockets whose session has ended. */
  check(): Promise<void>
}

/** With the duration of the statement, well within 5 s. */
const CHECK_EVERY_MS = 2_000
const MAX_LIVES_OF_A_SOCKET = 20
/** Of a socket, between two checks. */
const MAX_MESSAGES = 40

const message = z.object({ videoId: idOrUuidInJson('video') })

interface Watched {
  row: LiveStatusRow
  sockets: Set<Socket>
}

interface Client {
  session: Session | null
  lives: Set<number>
  messages: number
  /** Messages are handled in their order. */
  last: Promise<void>
}

export function makeLiveVideos(deps: LiveVideosDeps): LiveVideos {
  const { sessions, config, subscribe, findId, load, logger, checkEveryMs = CHECK_EVERY_MS } = deps
  const admitted = new WeakMap<Socket, Session>()
  const clients = new Map<Socket, Client>()
  const watched = new Map<number, Watched>()
  /** A row must not be compared with an older one. */
  const oneByOne = pLimit(1)
  const changed = new Set<number>()

  const checks = makeRepeated({
    work: check,
    isNeeded: () => clients.size > 0,
    everyMs: checkEveryMs,
    logger,
    failure: 'the lives of sockets could not be checked',
  })
  const unsubscribe = subscribe((videoId) => {
    if (watched.size === 0 || (videoId !== undefined && !watched.has(videoId))) return
    for (const id of videoId === undefined ? watched.keys() : [videoId]) changed.add(id)
    compareChanged().catch((error: unknown) => logger.warn({ err: error }, 'a change of a live could not be read'))
  })

  const compareChanged = (): Promise<void> =>
    oneByOne(async () => {
      const ids = [...changed].filter((id) => watched.has(id))
      changed.clear()
      if (ids.length === 0) return
      const rows = new Map((await load(ids)).map((row) => [row.id, row]))
      for (const id of ids) announce(id, rows.get(id))
    })

  function announce(videoId: number, row: LiveStatusRow | undefined): void {
    const live = watched.get(videoId)
    if (!live) return
    const before = live.row
    if (row) live.row = row
    else watched.delete(videoId)
    for (const socket of live.sockets) {
      const client = clients.get(socket)
      if (!client) continue
      if (!row) client.lives.delete(videoId)
      if ((!row || row.blocked) && !before.blocked && maySee(before, client.session)) socket.emit('force-end')
      if (!row || !maySee(row, client.session)) continue
      if (row.state !== before.state) socket.emit('state-change', { state: labelledState(row.state).id })
      if (row.viewers !== before.viewers) socket.emit('views-change', { viewers: row.viewers })
    }
  }

  function maySee(row: LiveStatusRow, session: Session | null): boolean {
    try {
      // The contract names videos by their ids here, also those that are unlisted.
      assertMaySee(row, viewerOf(session), { byId: false })
      assertFollowed(row, viewerOf(session), config().search.remote_uri)
      return true
    } catch (error) {
      if (error instanceof DomainError) return false
      throw error
    }
  }

  async function join(socket: Socket, client: Client, key: IdOrUuid): Promise<void> {
    const videoId = await findId(key)
    if (videoId === undefined || client.lives.has(videoId) || client.lives.size >= MAX_LIVES_OF_A_SOCKET) return
    await oneByOne(async () => {
      const row = watched.get(videoId)?.row ?? (await load([videoId])).at(0)
      if (!row || !maySee(row, client.session) || !clients.has(socket)) return
      const live = watched.get(videoId) ?? { row, sockets: new Set() }
      watched.set(videoId, live)
      live.sockets.add(socket)
      client.lives.add(videoId)
    })
  }

  async function leave(socket: Socket, client: Client, key: IdOrUuid): Promise<void> {
    const videoId = await findId(key)
    if (videoId !== undefined) remove(socket, client, videoId)
  }

  function remove(socket: Socket, client: Client, videoId: number): void {
    client.lives.delete(videoId)
    const live = watched.get(videoId)
    live?.sockets.delete(socket)
    if (live?.sockets.size === 0) watched.delete(videoId)
  }

  async function check(): Promise<void> {
    for (const client of clients.values()) client.messages = 0
    for (const id of watched.keys()) changed.add(id)
    await compareChanged()
    const open = [...clients.values()].flatMap(({ session }) => (session ? [session.id] : []))
    const ended = new Set(open.length > 0 ? await sessions.ended([...new Set(open)]) : [])
    for (const [socket, { session }] of [...clients]) if (session && ended.has(session.id)) socket.disconnect()
  }

  return {
    name: '/live-videos',
    check,
    count: () => clients.size,
    async admit(socket) {
      const session = await sessionIn(socket, sessions)
      if (session) admitted.set(socket, session)
    },
    joined(socket) {
      const client: Client = { session: admitted.get(socket) ?? null, lives: new Set(), messages: 0, last: Promise.resolve() }
      clients.set(socket, client)
      socket.once('disconnect', () => {
        clients.delete(socket)
        for (const videoId of [...client.lives]) remove(socket, client, videoId)
      })
      const handlers = { subscribe: join, unsubscribe: leave }
      socket.onAny((event: unknown, sent: unknown) => {
        client.messages += 1
        const handle = event === 'subscribe' || event === 'unsubscribe' ? handlers[event] : undefined
        if (!handle || client.messages > MAX_MESSAGES) return void socket.disconnect()
        const { success, data } = message.safeParse(sent)
        if (!success) return
        client.last = client.last
          .then(() => handle(socket, client, data.videoId))
          .catch((error: unknown) => logger.warn({ err: error }, 'a message about a live could not be handled'))
      })
      checks.start()
    },
    close() {
      checks.stop()
      unsubscribe()
    },
  }
}
