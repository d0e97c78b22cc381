// The swarms of this process: bittorrent-tracker without its listeners, only for swarms of local videos, and with limited memory. Loaded
// for the first peer.

import { isIP } from 'node:net'
import type { AnnounceParams, PeerSocket, Swarm } from 'bittorrent-tracker/server'
import type { SwarmAccess } from '../../actors/torrent/index.ts'
import type { Config } from '../../config/index.ts'
import type { Logger } from '../../platform/logger.ts'
import { makeLru } from '../../platform/lru.ts'
import type { AnnounceLimits } from './announce-limits.ts'
import { readAnnounce, readScrape } from './messages.ts'

export interface SwarmsDeps {
  config: () => Config
  logger: Logger
  limits: AnnounceLimits
  /** By the hexadecimal info hash. */
  accessOf: (infoHash: string) => Promise<SwarmAccess>
  /** The key under which an address is counted. */
  addressOf: (ip: string) => string
}

const MAX_SWARMS = 20_000
const PEERS_OF_A_SWARM = 1_000
/** Per address, so that it does not displace all others: those behind one router share it. */
const PEERS_OF_AN_ADDRESS = 100
const MAX_PEERS = 200_000
/** Bytes: ten offers are about 30 KB. */
const MAX_MESSAGE = 256 * 1024
const SWEEP_EVERY_MS = 60_000
const SWEEP_AGAIN_MS = 5_000
/** Anybody can invent info hashes, so the log is limited. */
const TELL_UNKNOWN_EVERY_MS = 60_000
/** Unknown info hashes are not looked up again for this time. */
const UNKNOWN_MS = 5_000
const MAX_UNKNOWN = 20_000

export type Swarms = Awaited<ReturnType<typeof loadSwarms>>

export async function loadSwarms({ config, logger, limits, accessOf, addressOf }: SwarmsDeps) {
  const [{ default: Server }, { default: bencode }] = await Promise.all([import('bittorrent-tracker/server'), import('bencode')])
  const unknownHashes = makeLru<string, true>(MAX_UNKNOWN, { ttl: UNKNOWN_MS })
  const failure = (reason: string): Uint8Array => bencode.encode({ 'failure reason': reason })
  // Announces since the last count, as an upper bound of new peers.
  let peers = 0
  let swarms = 0
  let sweptAt = 0
  let unknown = 0
  let toldOfUnknownAt = -TELL_UNKNOWN_EVERY_MS

  const server = new Server({
    http: false,
    udp: false,
    stats: false,
    ws: { noServer: true, maxPayload: MAX_MESSAGE },
    peersCacheLength: PEERS_OF_A_SWARM,
    filter(infoHash, params, done) {
      refusalOf(infoHash, params).then(
        (refusal) => done(refusal === undefined ? undefined : new Error(refusal)),
        (error) => {
          logger.warn({ err: error }, 'the tracker could not look up a swarm')
          done(new Error('try again later'))
        },
      )
    },
  })
  // Two concurrent first peers of a swarm must get the same one.
  server.createSwarm = (infoHash, done) => {
    const known = server.torrents[infoHash]
    const swarm = known ?? new Server.Swarm(infoHash, server)
    server.torrents[infoHash] = swarm
    if (!known) swarms += 1
    process.nextTick(() => done(null, swarm))
  }

  async function refusalOf(infoHash: string, params: AnnounceParams): Promise<string | undefined> {
    // A peer answers each offer that it gets.
    const isAnswering = Boolean(params.answer && server.torrents[infoHash]?.peers.peek(keyOf(params)))
    const isEager = !isAnswering && limits.isTooMany(addressOf(params.ip), infoHash)
    if (isEager && config().tracker.reject_too_many_announces) return 'too many announces'
    if (!(await isServed(infoHash))) {
      drop(infoHash)
      if (config().log.log_tracker_unknown_infohash) tellOfUnknown(infoHash)
      return 'unknown info_hash'
    }
    // The peer may have left while its swarm was looked up.
    if (params.socket?.destroyed) return 'gone'
    const swarm = server.torrents[infoHash]
    peers += 1
    const isFull = peers > MAX_PEERS || (!swarm && swarms >= MAX_SWARMS)
    if (isFull && performance.now() - sweptAt > SWEEP_AGAIN_MS) sweep()
    if (peers > MAX_PEERS || (!swarm && swarms >= MAX_SWARMS)) return 'the tracker is full'
    if (swarm && isTaken(swarm, params)) return 'this peer_id is taken'
    if (swarm) makeRoom(swarm, params)
    return undefined
  }

  function tellOfUnknown(infoHash: string): void {
    unknown += 1
    if (performance.now() - toldOfUnknownAt < TELL_UNKNOWN_EVERY_MS) return
    logger.info({ infoHash, announces: unknown }, 'a peer announced an unknown torrent')
    unknown = 0
    toldOfUnknownAt = performance.now()
  }

  /** Looked up each time: the video may have become private meanwhile. */
  async function isServed(infoHash: string): Promise<boolean> {
    const access = unknownHashes.has(infoHash) ? 'unknown' : await accessOf(infoHash)
    if (access === 'unknown' && !unknownHashes.has(infoHash)) unknownHashes.set(infoHash, true)
    return access === 'open' || (access === 'unknown' && !config().tracker.private)
  }

  /** A peer that reconnects replaces its earlier connection; nobody else can. */
  function isTaken(swarm: Swarm, { socket, ip, peer_id }: AnnounceParams): boolean {
    const holder = socket && swarm.peers.peek(peer_id)
    if (!holder?.socket || holder.socket === socket) return false
    if (!holder.socket.destroyed && holder.ip !== ip) return true
    swarm.announce({ type: 'ws', event: 'stopped', numwant: 0, peer_id })
    return false
  }

  /** An address over its limit replaces its own oldest peers. */
  function makeRoom(swarm: Swarm, params: AnnounceParams): void {
    if (swarm.peers.length < PEERS_OF_AN_ADDRESS || swarm.peers.peek(keyOf(params))) return
    const address = addressOf(params.ip)
    const theirs = swarm.peers.keys.filter((key) => {
      const peer = swarm.peers.peek(key)
      return peer && addressOf(peer.ip) === address
    })
    // For peers over HTTP the tracker uses the address as key, for others the id.
    const goodbye = { type: params.type, event: 'stopped', numwant: 0 } as const
    for (const key of theirs.slice(0, Math.max(0, theirs.length + 1 - PEERS_OF_AN_ADDRESS))) {
      swarm.announce({ ...goodbye, peer_id: key, addr: key })
    }
  }

  function drop(infoHash: string): void {
    const swarm = server.torrents[infoHash]
    if (!swarm) return
    for (const { socket } of swarm.peers.keys.flatMap((key) => swarm.peers.peek(key) ?? [])) {
      if (socket?.infoHashes) socket.infoHashes = socket.infoHashes.filter((one) => one !== infoHash)
    }
    delete server.torrents[infoHash]
    swarms -= 1
  }

  /** Removes peers that were silent for long, and empty swarms. */
  function sweep(): void {
    sweptAt = performance.now()
    peers = 0
    swarms = 0
    for (const [infoHash, swarm] of Object.entries(server.torrents)) {
      for (const key of swarm.peers.keys) swarm.peers.peek(key)
      peers += swarm.peers.length
      if (swarm.peers.length === 0) delete server.torrents[infoHash]
      else swarms += 1
    }
  }
  const sweeper = setInterval(sweep, SWEEP_EVERY_MS).unref()

  return {
    /** Takes over a connection that requests a WebSocket. */
    upgrade: server.ws.handleUpgrade.bind(server.ws),
    /** From now on `message` events of the socket are a peer's messages. */
    addPeer: (socket: PeerSocket) => server.onWebSocketConnection(socket),

    /** The bencoded response to an announce; `query` is what follows the question mark. */
    async announce(query: string, ip: string): Promise<Uint8Array> {
      const read = readAnnounce(query)
      if ('wrong' in read) return failure(`invalid ${read.wrong}`)
      // Behind a trusted proxy it may be anything.
      if (isIP(ip) === 0) return failure('invalid address')
      return await new Promise((resolve) => {
        server.onHttpRequest(
          { url: `/announce?${read.query}`, headers: {}, connection: { remoteAddress: ip } },
          { end: resolve },
          { action: 'announce' },
        )
      })
    },

    /** The bencoded response to a scrape. The tracker's own one writes the hashes as text. */
    async scrape(query: string): Promise<Uint8Array> {
      const read = readScrape(query)
      if ('wrong' in read) return failure(`invalid ${read.wrong}`)
      const served = await Promise.all(read.infoHashes.map((infoHash) => server.torrents[infoHash] !== undefined && isServed(infoHash)))
      for (const [index, infoHash] of read.infoHashes.entries()) if (!served[index]) drop(infoHash)
      const files = read.infoHashes.flatMap((infoHash) => {
        const { complete = 0, incomplete = 0 } = server.torrents[infoHash] ?? {}
        return ['20:', Buffer.from(infoHash, 'hex'), bencode.encode({ complete, downloaded: complete, incomplete })]
      })
      return Buffer.concat(['d5:filesd', ...files, 'ee'].map((part) => Buffer.from(part)))
    },

    close() {
      clearInterval(sweeper)
      server.close()
    },
  }
}

/** The tracker's key of a peer in a swarm. */
const keyOf = ({ type, peer_id, addr }: AnnounceParams): string => (type === 'ws' ? peer_id : (addr ?? ''))
