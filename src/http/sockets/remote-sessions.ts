// Sessions at other processes. A proxy without sticky sessions may send each request of a client to another process: polls are relayed to
// the process of the session, and a WebSocket moves the session to the process where it arrived
// (docs/adr/0011-sockets-without-stickiness.md).

import type { IncomingMessage } from 'node:http'
import type { Bus } from '../../platform/bus/index.ts'
import type { Logger } from '../../platform/logger.ts'
import { makeLru } from '../../platform/lru.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { type Engine, queryOf } from './engine.ts'
import { makeRelay, type Question, type RelayedAnswer, type Respond } from './relay.ts'
import type { SessionIds } from './session-ids.ts'

/** Sessions that moved from here to another process, and whose polls may still arrive here. */
const MAX_MOVED = 20_000
const MOVED_FOR_MS = 60_000
const PROTOCOL = { EIO: '4', transport: 'polling' }
const REFUSED = { status: 400, body: '' }
/** Between packets of one payload (Engine.IO protocol 4). */
const SEPARATOR = '\u001e'

export function makeRemoteSessions(options: {
  engine: Engine
  ids: SessionIds
  bus: Pick<Bus, 'publish' | 'subscribe'>
  secrets: Pick<Secrets, 'seal' | 'open'>
  logger: Logger
}) {
  const { engine, ids } = options
  const moved = makeLru<string, string>(MAX_MOVED, { ttl: MOVED_FOR_MS, updateAgeOnGet: true })
  const arriving = new Map<string, Promise<boolean>>()
  const relay = makeRelay({ ...options, name: ids.name, respond })

  /** Undefined if it is here, or does not exist. */
  async function processOf(sid: string): Promise<string | undefined> {
    await arriving.get(sid)
    if (engine.has(sid)) return undefined
    const process = moved.get(sid) ?? ids.processOf(sid)
    return process === ids.name ? undefined : process
  }

  async function respond(
    { what, sid, body }: Question,
    { asker, signal, wasPassedOn }: Parameters<Respond>[1],
  ): Promise<RelayedAnswer | { askInstead: string }> {
    const process = await processOf(sid)
    if (process !== undefined) return wasPassedOn ? REFUSED : { askInstead: process }
    if (what !== 'move') {
      const query = { ...PROTOCOL, sid }
      return await engine.ask(what === 'poll' ? { method: 'GET', query, signal } : { method: 'POST', query, body })
    }
    const said = await engine.release(sid)
    if (!said) return REFUSED
    moved.set(sid, asker)
    return { status: 200, body: JSON.stringify(said) }
  }

  /** Relays a poll, or a message of the client, to the process of the session; null if it is gone. */
  async function ask(question: Question, signal?: AbortSignal): Promise<RelayedAnswer | null> {
    const process = await processOf(question.sid)
    return process === undefined ? null : await relay.ask(process, question, signal)
  }

  /** Recreates it under the same name, with the client's own query, and replays what the client has sent. */
  async function move(sid: string, { url = '' }: IncomingMessage, address: string): Promise<boolean> {
    const process = moved.get(sid) ?? ids.processOf(sid)
    if (process === undefined || process === ids.name) return false
    const released = await relay.ask(process, { what: 'move', sid, body: '' })
    if (released?.status !== 200) return false
    const said: string[] = JSON.parse(released.body)
    const { sid: _sid, ...query } = Object.fromEntries(queryOf(url))
    const begun = await engine.ask({ method: 'GET', query: { ...query, ...PROTOCOL }, session: { sid, address } })
    if (begun.status !== 200) return false
    if (said.length > 0) {
      const body = said.map((packet) => `4${packet}`).join(SEPARATOR)
      await engine.ask({ method: 'POST', query: { ...PROTOCOL, sid }, body })
    }
    moved.delete(sid)
    return true
  }

  return {
    /** True if requests of the session are answered here, also if it is unknown. */
    async isHere(sid: string) {
      return (await processOf(sid)) === undefined
    },
    ask,
    /** Moves a session here, for a client that arrives with a WebSocket; false if it stays where it is. */
    async bring(sid: string, request: IncomingMessage, address: string) {
      const known = arriving.get(sid)
      if (known) return await known
      const coming = move(sid, request, address).catch(() => false)
      arriving.set(sid, coming)
      try {
        return await coming
      } finally {
        arriving.delete(sid)
      }
    },
    close() {
      relay.close()
    },
  }
}
