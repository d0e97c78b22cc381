import { createHmac, randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { makeHandshake } from '../../../../src/media/live/handshake.ts'
import { makeWaitingRoom } from '../../../../src/media/live/waiting-room.ts'

const hmac = (key: string | Buffer, bytes: Buffer): Buffer => createHmac('sha256', key).update(bytes).digest()
const without = (block: Buffer, at: number): Buffer => Buffer.concat([block.subarray(0, at), block.subarray(at + 32)])
const sumOf = (block: Buffer, at: number): number => block.subarray(at, at + 4).reduce((sum, byte) => sum + byte, 0)

function answerTo(c1: Buffer): { s1: Buffer; s2: Buffer; rest: Buffer | undefined } {
  const written: Buffer[] = []
  const handshake = makeHandshake((bytes) => written.push(bytes))
  const all = Buffer.concat([Buffer.from([3]), c1, Buffer.alloc(1536), Buffer.from('next')])
  let rest: Buffer | undefined
  for (let at = 0; at < all.length; at += 1000) rest = handshake.push(all.subarray(at, at + 1000))
  const answer = Buffer.concat(written)
  expect([answer.length, answer[0]]).toEqual([1 + 2 * 1536, 3])
  return { s1: answer.subarray(1, 1537), s2: answer.subarray(1537), rest }
}

test('a plain handshake is answered with an echo', () => {
  const c1 = Buffer.concat([Buffer.alloc(8), randomBytes(1528)])
  const { s1, s2, rest } = answerTo(c1)
  expect(s1.subarray(0, 8)).toEqual(Buffer.alloc(8))
  expect(s2).toEqual(c1)
  expect(rest).toEqual(Buffer.from('next'))
})

test.each([
  [8, 12],
  [772, 776],
])('a handshake with a digest (at %i) is answered with digests', (from, base) => {
  const c1 = randomBytes(1536)
  const at = base + (sumOf(c1, from) % 728)
  hmac('Genuine Adobe Flash Player 001', without(c1, at)).copy(c1, at)
  const { s1, s2 } = answerTo(c1)
  const digest = base + (sumOf(s1, from) % 728)
  expect(s1.subarray(digest, digest + 32)).toEqual(hmac('Genuine Adobe Flash Media Server 001', without(s1, digest)))
  expect(s2).not.toEqual(c1)
})

test('a new connection replaces the least advanced one, first of its own network', () => {
  const closed: string[] = []
  const room = makeWaitingRoom({ perAddress: 2, inAll: 4 })
  const enter = (name: string, address: string, progress = 0) =>
    room.enter({ address, progress: () => progress, close: () => closed.push(name) })
  enter('a1', '192.0.2.1')
  enter('b1', '2001:db8:0:1::1', 1)
  enter('b2', '2001:db8:0:1:ffff::2', 2)
  enter('b3', '2001:db8:0:1::3')
  expect(closed).toEqual(['b1'])
  enter('c1', '2001:db8:0:2::1', 5)
  enter('d1', '192.0.2.2')
  expect(closed).toEqual(['b1', 'a1'])
  room.closeAll()
  expect(closed).toEqual(['b1', 'a1', 'b2', 'b3', 'c1', 'd1'])
})
