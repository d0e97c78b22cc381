// WebSockets of players: limits of their number and messages, and the timeout of silent ones. A page with several players has one socket,
// on which each of them is a peer.

import { EventEmitter } from 'node:events'
import type { PeerSocket, WebSocket } from 'bittorrent-tracker/server'
import { readMessage } from './messages.ts'
import type { Swarms } from './swarms.ts'

const MAX_SOCKETS = 20_000
const MAX_OF_AN_ADDRESS = 100
/** Players on one page. */
const MAX_PEERS = 20
/** Messages of a peer in a lively swarm per period. */
const MAX_MESSAGES = 500
const WINDOW_MS = 10_000
/** Invalid messages. */
const MAX_BAD = 5
/** Bytes that may be buffered for a slow reader. */
const MAX_WAITING = 1024 ** 2
const PING_EVERY_MS = 30_000
/** Players announce every two minutes. */
const MAX_SILENCE_MS = 15 * 60_000
/** For the closing handshake. */
const CLOSING_MS = 500

const GOING_AWAY = 1001
const POLICY_VIOLATION = 1008

interface Connection {
  socket: WebSocket
  /** By the peer's own id. */
  peers: Map<string, PeerSocket>
  hasAnswered: boolean
  heardAt: number
}

export function makeSockets(options: { now: () => number }) {
  const { now } = options
  const connections = new Set<Connection>()
  const byAddress = new Map<string, number>()
  let pinging: NodeJS.Timeout | undefined

  /** Adds a socket. `ip` must be an address, `address` is the key under which it is counted. */
  function add(socket: WebSocket, from: { ip: string; port: number; address: string }, swarms: Pick<Swarms, 'addPeer'>): void {
    const connection: Connection = { socket, peers: new Map(), hasAnswered: true, heardAt: now() }
    connections.add(connection)
    byAddress.set(from.address, (byAddress.get(from.address) ?? 0) + 1)
    pinging ??= setInterval(ping, PING_EVERY_MS).unref()
    const isWithinBounds = boundsOf(now)
    socket.on('message', (data: Buffer) => {
      connection.heardAt = now()
      const message = readMessage(data.toString())
      if (!isWithinBounds(message !== undefined)) return socket.close(POLICY_VIOLATION, 'too many messages')
      if (!message) return send(socket, JSON.stringify({ 'failure reason': 'invalid message' }))
      const peer = peerOf(connection, message.action === 'announce' ? message.peer_id : '', from, swarms)
      if (peer) peer.emit('message', JSON.stringify(message))
      else send(socket, JSON.stringify({ 'failure reason': 'too many peers' }))
    })
    socket.on('pong', () => {
      connection.hasAnswered = true
    })
    // Broken frames, and messages that are too large: the close follows.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      connections.delete(connection)
      const left = (byAddress.get(from.address) ?? 1) - 1
      if (left === 0) byAddress.delete(from.address)
      else byAddress.set(from.address, left)
      for (const peer of connection.peers.values()) peer.emit('close')
    })
  }

  function ping(): void {
    for (const connection of connections) {
      const isSilent = now() - connection.heardAt > MAX_SILENCE_MS
      if (!connection.hasAnswered || isSilent) connection.socket.terminate()
      else connection.socket.ping()
      connection.hasAnswered = false
    }
  }

  return {
    /** True if one more is allowed for the address. */
    hasPlace(address: string) {
      return connections.size < MAX_SOCKETS && (byAddress.get(address) ?? 0) < MAX_OF_AN_ADDRESS
    },
    add,
    /** Closes all of them on shutdown. */
    close() {
      clearInterval(pinging)
      for (const { socket } of connections) {
        socket.close(GOING_AWAY, 'the server is ending')
        setTimeout(() => socket.terminate(), CLOSING_MS)
      }
    },
  }
}

/** The peer of that id, as the tracker knows it; undefined if there are too many on the socket. */
function peerOf(
  { peers, socket }: Connection,
  name: string,
  { ip, port }: { ip: string; port: number },
  { addPeer }: Pick<Swarms, 'addPeer'>,
): PeerSocket | undefined {
  const known = peers.get(name)
  if (known) return known
  if (peers.size === MAX_PEERS) return undefined
  const peer: PeerSocket = Object.assign(new EventEmitter(), {
    upgradeReq: { headers: {}, connection: { remoteAddress: ip, remotePort: port } },
    // A failed send can be ignored: the close of the socket follows, once.
    send: (text: string) => send(socket, text),
  })
  addPeer(peer)
  peers.set(name, peer)
  return peer
}

function send(socket: WebSocket, text: string): void {
  if (socket.bufferedAmount > MAX_WAITING) socket.terminate()
  else socket.send(text, () => undefined)
}

/** Counts the messages of a socket, valid and invalid ones; false if one exceeds the limit. */
function boundsOf(now: () => number): (isGood: boolean) => boolean {
  let since = now()
  let count = 0
  let bad = 0
  return (isGood) => {
    if (now() - since > WINDOW_MS) [since, count] = [now(), 0]
    count += 1
    if (!isGood) bad += 1
    return count <= MAX_MESSAGES && bad <= MAX_BAD
  }
}
