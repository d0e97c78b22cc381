import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { LiveAcceptor } from '../../../../src/media/index.ts'
import { makeChunkReader, type RtmpMessage } from '../../../../src/media/live/chunk-reader.ts'
import { liveResult, startAcceptor } from '../../../support/live.ts'
import { serverFfmpeg, temporaryFolder } from '../../../support/media.ts'
import { clientHandshake, command, mediaMessage, publishCommands, rawMessage, rtmpClient } from '../../../support/rtmp-client.ts'
import { until } from '../../../support/until.ts'

const run = promisify(execFile)

let folder: string
let running: LiveAcceptor | undefined

beforeEach(async () => {
  folder = await temporaryFolder()
})

afterEach(async () => {
  await running?.stop()
  await rm(folder, { recursive: true, force: true })
})

const FRAMES = 50
const RAW_FRAMES = 400

let recorded: Promise<Buffer[]> | undefined

/** The messages of an FLV file by ffmpeg: noise, so that it exceeds the socket buffers. */
const recordedMessages = (): Promise<Buffer[]> => {
  recorded ??= recordMessages()
  return recorded
}

async function recordMessages(): Promise<Buffer[]> {
  const { ffmpegPath } = await serverFfmpeg()
  const path = join(folder, 'source.flv')
  const picture = ['-f', 'lavfi', '-i', `testsrc=size=640x360:rate=25:duration=${FRAMES / 25}`, '-vf', 'noise=alls=100:allf=t']
  const codec = ['-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '10', '-threads', '2', '-pix_fmt', 'yuv420p', '-g', '25']
  await run(ffmpegPath, ['-v', 'error', ...picture, ...codec, path])
  const bytes = await readFile(path)
  const messages: Buffer[] = []
  for (let at = 13; at + 11 < bytes.length; ) {
    const [type, length, time] = [bytes.readUInt8(at), bytes.readUIntBE(at + 1, 3), bytes.readUIntBE(at + 4, 3)]
    const body = bytes.subarray(at + 11, at + 11 + length)
    if (type === 9) messages.push(mediaMessage(9, time, body))
    at += 11 + length + 4
  }
  return messages
}

test.each([
  ['at once', undefined],
  ['after the publisher filled all buffers', (client: { stuck: () => Promise<unknown> }) => client.stuck()],
])('no byte is lost when the key is accepted %s, and the publisher sends everything without waiting', async (_name, wait) => {
  const messages = await recordedMessages()
  const client: { stuck: () => Promise<unknown> } = { stuck: async () => undefined }
  const { port, acceptor } = await startAcceptor({ folder, beforeAdmission: async () => await wait?.(client) })
  running = acceptor
  const { socket } = await rtmpClient(port)
  let last = -1
  client.stuck = () =>
    until(() => {
      const isStuck = socket.bytesWritten > 0 && socket.writableLength > 0 && socket.writableLength === last
      last = socket.writableLength
      return isStuck
    })
  for (const bytes of [clientHandshake(), publishCommands(), ...messages, command('FCUnpublish', 6, null, 'secret')]) socket.write(bytes)
  const { pieces, end, cut } = await liveResult(folder)
  expect([end.reason, cut.reason]).toEqual(['finished', 'ended'])
  const { ffmpegPath } = await serverFfmpeg()
  const whole = `concat:${pieces.map(({ path }) => path).join('|')}`
  const { stdout, stderr } = await run(ffmpegPath, ['-v', 'error', '-i', whole, '-c', 'copy', '-f', 'framecrc', '-'])
  expect({ frames: stdout.split('\n').filter((line) => /^\d/.test(line)).length, stderr }).toEqual({ frames: FRAMES, stderr: '' })
  socket.destroy()
})

const LIMITS = { message: 2 ** 20, unfinished: 2 ** 20 }

/** The messages of these chunks of a stream. If `handsOver`, another reader continues after each chunk. */
function readAll(parts: Buffer[], handsOver: boolean): RtmpMessage[] {
  const messages: RtmpMessage[] = []
  let reader = makeChunkReader({ limits: LIMITS })
  for (const part of parts) {
    reader.push(part)
    for (let message = reader.next(); message; message = reader.next()) {
      if (message.type === 1) reader.setChunkSize(message.payload.readUInt32BE())
      messages.push({ ...message, payload: Buffer.from(message.payload) })
    }
    const state = { ...JSON.parse(JSON.stringify(reader.state())), window: 0, received: 0, acknowledged: 0 }
    if (handsOver) reader = makeChunkReader({ limits: LIMITS, state })
  }
  return messages
}

/** Two messages with alternating chunks and extended timestamps, between plain ones. */
function interleaved(): Buffer {
  const head = (chunkStream: number, type: number, length: number): Buffer => {
    const bytes = Buffer.alloc(16)
    bytes.writeUInt8(chunkStream)
    bytes.writeUIntBE(0xffffff, 1, 3)
    bytes.writeUIntBE(length, 4, 3)
    bytes.writeUInt8(type, 7)
    bytes.writeUInt32LE(1, 8)
    bytes.writeUInt32BE(0x01000000, 12)
    return bytes
  }
  const more = (chunkStream: number): Buffer => Buffer.from([0xc0 | chunkStream, 1, 0, 0, 0])
  const [sound, image] = [Buffer.alloc(300, 8), Buffer.alloc(200, 9)]
  return Buffer.concat([
    ...[head(4, 8, 300), sound.subarray(0, 128), head(6, 9, 200), image.subarray(0, 128)],
    ...[more(4), sound.subarray(128, 256), more(6), image.subarray(128), more(4), sound.subarray(256)],
    // A later video message: only its length and timestamp delta are sent.
    Buffer.from([0x46, 0, 0, 40, 0, 0, 2, 9, 7, 7]),
    // Another one with the same header.
    Buffer.from([0xc6, 5, 5]),
  ])
}

test('a reader in another process continues at any byte', () => {
  const stream = Buffer.concat([interleaved(), rawMessage(1, Buffer.from([0, 0, 2, 0])), mediaMessage(9, 90, Buffer.alloc(500, 3))])
  const whole = readAll([stream], false)
  expect(whole.map(({ type, timestamp, payload }) => [type, timestamp, payload.length, payload[0]])).toEqual([
    [9, 0x01000000, 200, 9],
    [8, 0x01000000, 300, 8],
    [9, 0x01000028, 2, 7],
    [9, 0x01000050, 2, 5],
    [1, 0, 4, 0],
    [9, 90, 500, 3],
  ])
  for (let at = 0; at <= stream.length; at += 1) expect(readAll([stream.subarray(0, at), stream.subarray(at)], true)).toEqual(whole)
})

test('any bytes are parsed or refused, in any chunks', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: RAW_FRAMES }), fc.nat(RAW_FRAMES), (bytes, at) => {
      const stream = Buffer.from(bytes)
      const attempt = (parts: Buffer[]): unknown => {
        try {
          return readAll(parts, true)
        } catch (error) {
          return String(error)
        }
      }
      expect(attempt([stream.subarray(0, at), stream.subarray(at)])).toEqual(attempt([stream]))
    }),
  )
})
