// The tracker with many or greedy peers: nobody else loses a place.

import { EventEmitter } from 'node:events'
import { afterEach, describe, expect, it } from '@jest/globals'
import bencode from 'bencode'
import type { PeerSocket } from 'bittorrent-tracker/server'
import type { SwarmAccess } from '../../../src/actors/torrent/index.ts'
import { makeAnnounceLimits } from '../../../src/http/tracker/announce-limits.ts'
import { loadSwarms, type Swarms } from '../../../src/http/tracker/swarms.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { testConfig } from '../../support/config.ts'
import { until } from '../../support/until.ts'

let swarms: Swarms
const lines: object[] = []
afterEach(() => {
  swarms.close()
  lines.length = 0
})

async function open(patch: { tracker?: object; limits?: object; access?: SwarmAccess } = {}): Promise<void> {
  const limits = { announces_per_ip: 5, announces_per_ip_per_infohash: 3, ...patch.limits }
  const config = testConfig({ tracker: { enabled: true, ...patch.tracker }, vireo: { tracker: limits } })
  swarms = await loadSwarms({
    config: () => config,
    logger: Object.assign(Object.create(silentLogger), { info: (line: object) => lines.push(line) }),
    limits: makeAnnounceLimits(() => config),
    accessOf: async () => patch.access ?? 'open',
    addressOf: (ip) => ip,
  })
}

const SWARM = 'a'.repeat(20)
const hashOf = (n: number): string => String(n).padStart(20, '0')

async function announce(ip: string, port: number, infoHash = SWARM): Promise<Record<string, unknown>> {
  const query = `info_hash=${infoHash}&peer_id=${'p'.repeat(20)}&port=${port}&left=0&numwant=50`
  const answer = bencode.decode(Buffer.from(await swarms.announce(query, ip)))
  const reason = answer['failure reason']
  return reason ? { 'failure reason': Buffer.from(reason).toString() } : answer
}

/** A player, and the tracker's messages to it. */
function player(ip: string, port: number) {
  const said: Record<string, unknown>[] = []
  const socket: PeerSocket = Object.assign(new EventEmitter(), {
    upgradeReq: { headers: {}, connection: { remoteAddress: ip, remotePort: port } },
    send: (text: string) => void said.push(JSON.parse(text)),
  })
  swarms.addPeer(socket)
  const say = async (peer_id: string, more: object = {}) => {
    const message = { action: 'announce', info_hash: SWARM, peer_id, event: 'started', left: 0, ...more }
    const before = said.length
    socket.emit('message', JSON.stringify(message))
    await until(() => said.length > before)
    return said.at(-1)
  }
  return { say, said, socket }
}
const named = (n: number): string => `peer-${n}`.padEnd(20, '-')

describe('one address', () => {
  it('cannot fill a swarm of BitTorrent clients, nor displace others', async () => {
    await open()
    await announce('192.0.2.1', 7000)
    for (let port = 1; port <= 1500; port += 1) await announce('198.51.100.1', port)
    expect(await announce('192.0.2.2', 7000)).toMatchObject({ complete: 102 })
    // Its latest peers are in the swarm.
    expect(await announce('198.51.100.1', 1500)).toMatchObject({ complete: 102 })
    expect(await announce('192.0.2.1', 7000)).toMatchObject({ complete: 102 })
  })

  it('cannot fill a swarm of players, with many names on many sockets', async () => {
    await open()
    const honest = player('192.0.2.1', 7000)
    await honest.say(named(0))
    for (let n = 1; n <= 1200; n += 20) {
      const greedy = player('198.51.100.1', 1000 + n)
      for (let more = 0; more < 20; more += 1) await greedy.say(named(n + more))
    }
    expect(await honest.say(named(0), { event: 'update' })).toMatchObject({ complete: 101 })
  })

  it('cannot take the name of a peer at another address, but can reuse its own', async () => {
    await open()
    expect(await player('192.0.2.1', 7000).say(named(1))).toMatchObject({ complete: 1 })
    expect(await player('198.51.100.1', 7000).say(named(1))).toMatchObject({
      'failure reason': 'this peer_id is taken',
    })
    expect(await player('192.0.2.1', 7001).say(named(1))).toMatchObject({ complete: 1 })
  })
})

describe('too many announces', () => {
  it('are refused for the configured time if that is enabled, and only for this address', async () => {
    await open({ tracker: { reject_too_many_announces: true } })
    for (const port of [1, 2, 3]) expect(await announce('192.0.2.1', port)).toMatchObject({ complete: port })
    expect(await announce('192.0.2.1', 4)).toEqual({ 'failure reason': 'too many announces' })
    expect(await announce('192.0.2.1', 4, 'b'.repeat(20))).toEqual({ 'failure reason': 'too many announces' })
    expect(await announce('192.0.2.2', 5)).toMatchObject({ complete: 4 })
    for (const n of [1, 2, 3, 4]) expect(await announce('192.0.2.2', 5, hashOf(n))).toMatchObject({ complete: 1 })
    expect(await announce('192.0.2.2', 5, hashOf(5))).toEqual({ 'failure reason': 'too many announces' })
  })

  it('are allowed again after the block', async () => {
    const limits = { announces_per_ip: 1, announce_window: '200 milliseconds', block_for: '50 milliseconds' }
    await open({ tracker: { reject_too_many_announces: true }, limits })
    await announce('192.0.2.1', 1)
    expect(await announce('192.0.2.1', 1)).toEqual({ 'failure reason': 'too many announces' })
    await until(async () => (await announce('192.0.2.1', 1)).complete === 1)
  })

  it('are allowed otherwise', async () => {
    await open()
    for (let port = 1; port <= 10; port += 1) expect(await announce('192.0.2.1', port)).toMatchObject({ complete: port })
  })

  it('are counted for answers too, except for those of a peer of the swarm', async () => {
    await open({ tracker: { reject_too_many_announces: true } })
    const asking = player('192.0.2.9', 7000)
    await asking.say(named(9))
    const answer = { answer: { type: 'answer', sdp: '' }, offer_id: 'x', to_peer_id: named(9), event: 'update' }
    const peer = player('192.0.2.1', 7000)
    await peer.say(named(1))
    for (let n = 1; n <= 10; n += 1) peer.socket.emit('message', JSON.stringify(answerOf(1, answer)))
    await until(() => asking.said.length === 11)
    const stranger = player('192.0.2.2', 7000)
    for (let n = 1; n <= 4; n += 1) stranger.socket.emit('message', JSON.stringify(answerOf(100 + n, answer)))
    await until(() => stranger.said.length === 1)
    expect(stranger.said).toMatchObject([{ 'failure reason': 'too many announces' }])
  })
  const answerOf = (n: number, answer: object) => ({
    action: 'announce',
    info_hash: SWARM,
    peer_id: named(n),
    left: 0,
    ...answer,
  })
})

it('says that it is full, and accepts peers of existing swarms', async () => {
  await open({ tracker: { private: false } })
  for (let n = 0; n < 20_000; n += 1) await announce('192.0.2.1', 1, hashOf(n))
  expect(await announce('192.0.2.1', 1, hashOf(20_000))).toEqual({ 'failure reason': 'the tracker is full' })
  expect(await announce('192.0.2.2', 1, hashOf(19_999))).toMatchObject({ complete: 2 })
})

it('logs invented swarms in total, and not each of them', async () => {
  await open({ access: 'unknown' })
  for (let n = 0; n < 50; n += 1) {
    expect(await announce('192.0.2.1', 1, hashOf(n))).toEqual({ 'failure reason': 'unknown info_hash' })
  }
  expect(lines).toEqual([{ infoHash: Buffer.from(hashOf(0)).toString('hex'), announces: 1 }])
})
