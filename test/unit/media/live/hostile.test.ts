import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { type LiveAcceptor, type ReceivedStream, receiveStream } from '../../../../src/media/index.ts'
import { writeMessage } from '../../../../src/media/live/chunk-writer.ts'
import { readTags } from '../../../../src/media/live/flv.ts'
import { makeLogger } from '../../../../src/platform/logger.ts'
import { liveResult, publish, startAcceptor } from '../../../support/live.ts'
import { temporaryFolder } from '../../../support/media.ts'
import { clientHandshake, command, mediaMessage, rawMessage, rtmpClient } from '../../../support/rtmp-client.ts'
import { until } from '../../../support/until.ts'

let folder: string
let running: LiveAcceptor | undefined

beforeEach(async () => {
  folder = await temporaryFolder()
})

afterEach(async () => {
  await running?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Reasons of closed connections. */
let reasons: string[]

async function start(limits: Parameters<typeof startAcceptor>[0]['limits'] = {}) {
  reasons = []
  const logger = makeLogger({ level: 'debug', destination: { write: (line) => void reasons.push(JSON.parse(line).reason) } })
  const started = await startAcceptor({ folder, limits, logger })
  running = started.acceptor
  return started
}

const DEEP_AMF = Buffer.concat([
  Buffer.from([2, 0, 7]),
  Buffer.from('connect'),
  ...Array.from({ length: 5000 }, () => Buffer.from([3, 0, 1, 0x61])),
])
const WIDE_AMF = Buffer.concat([Buffer.from([2, 0, 7]), Buffer.from('connect'), Buffer.alloc(60_000, 5)])
const LONG_ARRAY = Buffer.concat([Buffer.from([2, 0, 7]), Buffer.from('connect'), Buffer.from([10, 0xff, 0xff, 0xff, 0xff])])
const chunkSize = (bytes: number): Buffer => rawMessage(1, Buffer.from([bytes >>> 24, bytes >>> 16, bytes >>> 8, bytes]))
const largeChunks = chunkSize(0x10000)

const PING = rawMessage(4, Buffer.from([0, 6, 0, 0, 0, 0]))
/** In a single chunk. */
const mediaMessageOf = (bytes: number): Buffer => {
  const head = mediaMessage(9, 0, Buffer.alloc(1))
  head.writeUIntBE(bytes, 4, 3)
  return Buffer.concat([head.subarray(0, 12), Buffer.alloc(bytes, 0x27)])
}

test.each([
  ['HTTP', 'This is not RTMP.', Buffer.from('GET / HTTP/1.1\r\nHost: example.org\r\n\r\n')],
  ['TLS on the plain port', 'This is not RTMP.', Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc])],
  ['a chunk size of 2^31', 'A chunk size of 2147483648 bytes is out of bounds.', Buffer.concat([clientHandshake(), chunkSize(2 ** 31)])],
  ['a chunk size of 0', 'A chunk size of 0 bytes is out of bounds.', Buffer.concat([clientHandshake(), chunkSize(0)])],
  [
    'a message of 2^24 bytes',
    'A message of 16777215 bytes is too large.',
    Buffer.concat([clientHandshake(), Buffer.from([3, 0, 0, 0, 0xff, 0xff, 0xff, 20, 0, 0, 0, 0])]),
  ],
  [
    'AMF that nests deeply',
    'An AMF message holds too many values.',
    Buffer.concat([clientHandshake(), largeChunks, rawMessage(20, DEEP_AMF, 3)]),
  ],
  [
    'AMF with too many values',
    'An AMF message holds too many values.',
    Buffer.concat([clientHandshake(), largeChunks, rawMessage(20, WIDE_AMF, 3)]),
  ],
  ['an array that announces 2^32 values', 'An AMF array is too long.', Buffer.concat([clientHandshake(), rawMessage(20, LONG_ARRAY, 3)])],
  [
    'too many chunk streams',
    'There are too many chunk streams.',
    Buffer.concat([clientHandshake(), ...Array.from({ length: 20 }, (_, index) => rawMessage(3, Buffer.alloc(4), 3 + index))]),
  ],
  [
    'a chunk that refers to no header',
    'A chunk refers to a header that was never sent.',
    Buffer.concat([clientHandshake(), Buffer.from([0xc3, 0])]),
  ],
  ['publish before connect', 'the first command is not connect', Buffer.concat([clientHandshake(), command('publish', 1, null, 'secret')])],
  [
    'endless commands',
    'There are too many messages before a stream is asked for.',
    Buffer.concat([clientHandshake(), command('connect', 1, { app: 'live' }), ...Array.from({ length: 100 }, () => command('x', 0, null))]),
  ],
  [
    'endless pings',
    'There are too many messages before a stream is asked for.',
    Buffer.concat([clientHandshake(), ...Array.from({ length: 100 }, () => PING)]),
  ],
  [
    'endless empty messages',
    'There are too many messages before a stream is asked for.',
    Buffer.concat([clientHandshake(), rawMessage(9, Buffer.alloc(0)), Buffer.alloc(100, 0xc2)]),
  ],
  [
    'media without a stream',
    'There are too many bytes before a stream is asked for.',
    Buffer.concat([clientHandshake(), largeChunks, ...Array.from({ length: 10 }, () => mediaMessageOf(60_000))]),
  ],
])('%s closes the connection', async (_name, reason, bytes) => {
  const { port, requested } = await start()
  const { socket, closed } = await rtmpClient(port)
  socket.write(bytes)
  await closed
  expect(reasons).toEqual([reason])
  expect(requested).toEqual([])
})

test('a connection that does not finish its handshake, or publishes nothing, times out', async () => {
  const { port } = await start({ handshakeMs: 50, publishMs: 50 })
  const [silent, half, idle] = await Promise.all([rtmpClient(port), rtmpClient(port), rtmpClient(port)])
  half.socket.write(clientHandshake().subarray(0, 2000))
  idle.socket.write(clientHandshake())
  await Promise.all([silent.closed, half.closed, idle.closed])
})

test('a publisher is accepted beside a thousand open half handshakes, and memory stays flat', async () => {
  const { port } = await start()
  const before = process.memoryUsage().rss
  const held = await Promise.all(
    Array.from({ length: 1000 }, async () => {
      const client = await rtmpClient(port)
      client.socket.write(clientHandshake().subarray(0, 1000))
      return client
    }),
  )
  const sent = await publish(`rtmp://127.0.0.1:${port}/live/secret`, { seconds: 1 })
  const { pieces } = await liveResult(folder)
  expect([sent.code, pieces.length]).toEqual([0, 1])
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 2 ** 20)
  for (const { socket } of held) socket.destroy()
})

// After the handover, in the process of the stream.

const opened: { server: Server; publisher: Socket }[] = []
afterEach(() => {
  for (const { server, publisher } of opened.splice(0)) {
    publisher.destroy()
    server.close()
  }
})

/** A stream of an accepted publisher, and the publisher's end of the connection. */
async function receiving(limits?: { silenceMs: number }): Promise<{ publisher: Socket; stream: ReceivedStream; socket: Socket }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const publisher = createConnection(typeof address === 'object' && address ? address.port : 0, '127.0.0.1')
  publisher.on('error', () => undefined).resume()
  opened.push({ server, publisher })
  const [socket]: Socket[] = await once(server, 'connection')
  if (!socket) throw new Error('There is no connection.')
  const connection = { chunkSize: 4096, streams: [], window: 2_500_000, received: 0, acknowledged: 0, rest: '' }
  const stream = receiveStream({ socket, handover: { connection, messageStream: 1 }, ...(limits ? { limits } : {}) })
  stream.flv.resume()
  return { publisher, stream, socket }
}

const picture = (timestamp: number): Buffer => mediaMessage(9, timestamp, Buffer.from([0x17, 1, 0, 0, 0, 1, 2, 3]))
/** An H.264 sequence header for 16384 × 16384 px. */
const HUGE = Buffer.concat([
  Buffer.from([0x17, 0, 0, 0, 0, 1, 66, 0, 30, 0xff, 0xe1, 0, 11]),
  Buffer.from([0x67, 66, 0, 30, 0xf4, 0x00, 0x20, 0x00, 0x01, 0x00, 0x20]),
])

test.each([
  ['times that run backwards', 'before the newest', [picture(60_000), picture(0)]],
  [
    'times that run backwards in small steps',
    'before the newest',
    Array.from({ length: 10 }, (_, index) => picture(20_000 - index * 1_000)),
  ],
  ['times that jump by hours', 'after the newest', [picture(0), picture(3 * 3_600_000)]],
  ['a picture of 16384 × 16384 px', 'The picture of 16384 × 16384 px is too large.', [mediaMessage(9, 0, HUGE)]],
  [
    'metadata of a picture of 16384 × 16384 px',
    'The picture of 16384 × 16384 px is too large.',
    [rawMessage(18, Buffer.from(command('onMetaData', { width: 16384, height: 16384 }).subarray(12)), 5)],
  ],
  ['a message of 2^24 bytes', 'A message of 16777215 bytes is too large.', [Buffer.from([6, 0, 0, 0, 0xff, 0xff, 0xff, 9, 1, 0, 0, 0])]],
  ['garbage', 'A chunk refers to a header that was never sent.', [Buffer.alloc(5000, 0x91)]],
])('%s end the stream as invalid', async (_name, detail, messages) => {
  const { publisher, stream } = await receiving()
  publisher.write(Buffer.concat(messages))
  expect(await stream.ended).toEqual({ reason: 'invalid', detail: expect.stringContaining(detail) })
})

test('timestamps start with the first coded frame, wherever it is, and continue where RTMP timestamps wrap', async () => {
  const { publisher, stream } = await receiving()
  const written: Buffer[] = []
  stream.flv.on('data', (bytes) => written.push(bytes))
  const message = (type: 8 | 9, timestamp: number, ...body: number[]) =>
    writeMessage({ chunkStream: type === 8 ? 4 : 6, type, messageStream: 1, timestamp, payload: Buffer.from(body) })
  const header = message(9, 0, 0x17, 0, 0, 0, 0, 1)
  const frame = (timestamp: number) => message(9, timestamp, 0x27, 1, 0, 0, 0, 1)
  publisher.write(
    Buffer.concat([
      ...[header, message(8, 0, 0xaf, 0, 0x12, 0x10)],
      ...[frame(2 ** 32 - 40), message(8, 2 ** 32 - 20, 0xaf, 1, 7), frame(0), header, frame(40)],
      // The end of sequence, without its own timestamp.
      message(9, 0, 0x17, 2, 0, 0, 0),
      command('FCUnpublish', 6, null, 'secret'),
    ]),
  )
  expect((await stream.ended).reason).toBe('finished')
  await finished(stream.flv)
  const tags = await Array.fromAsync(readTags(Readable.from(written)))
  expect(tags.filter(({ type }) => type !== 'script').map(({ type, timestamp, body }) => [type, timestamp, body[1]])).toEqual([
    ['video', 0, 0],
    ['audio', 0, 0],
    ['video', 0, 1],
    ['audio', 20, 1],
    ['video', 40, 1],
    ['video', 40, 0],
    ['video', 80, 1],
    ['video', 80, 2],
  ])
})

test('a publisher that only pings counts as silent', async () => {
  const { publisher, stream } = await receiving({ silenceMs: 100 })
  publisher.write(Buffer.concat([picture(0), rawMessage(4, Buffer.from([0, 6, 0, 0, 0, 0]))]))
  expect((await stream.ended).reason).toBe('silent')
})

/** Sends the same bytes until the connection is closed, as fast as possible. */
function flood(publisher: Socket, bytes: Buffer): void {
  const more = (): void => {
    while (!publisher.destroyed && publisher.write(bytes));
  }
  publisher.on('drain', more)
  more()
}

test('a publisher that pings endlessly counts as silent', async () => {
  const { publisher, stream } = await receiving({ silenceMs: 100 })
  const ping = (): void => {
    publisher.write(PING)
    if (!publisher.destroyed) setImmediate(ping)
  }
  ping()
  expect((await stream.ended).reason).toBe('silent')
})

test('a publisher that does not read the responses to its pings is disconnected', async () => {
  const { publisher, stream, socket } = await receiving()
  publisher.pause()
  flood(publisher, Buffer.concat(Array.from({ length: 10_000 }, () => PING)))
  expect(await stream.ended).toEqual({ reason: 'invalid', detail: 'The peer does not read the answers that it asks for.' })
  expect(socket.writableLength).toBeLessThan(2 ** 19)
})

test('a silent publisher that reads nothing is disconnected', async () => {
  const { publisher, stream, socket } = await receiving({ silenceMs: 100 })
  publisher.pause()
  // Unread data fills the socket buffers.
  while (socket.writableLength < 2 ** 16) socket.write(Buffer.alloc(2 ** 16))
  expect((await stream.ended).reason).toBe('silent')
  await until(() => socket.destroyed)
})

test('an aggregate of half a million tags is read without delay', async () => {
  const { publisher, stream } = await receiving()
  const tag = Buffer.from([8, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xaf, 0, 0, 0, 12])
  const length = 500_000 * tag.length
  const head = Buffer.from([5, 0, 0, 0, length >> 16, (length >> 8) & 0xff, length & 0xff, 22, 1, 0, 0, 0])
  const chunkOf = Buffer.from([2, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff])
  publisher.write(Buffer.concat([chunkOf, head, ...Array.from({ length: 500_000 }, () => tag), command('FCUnpublish', 6, null, 'secret')]))
  expect((await stream.ended).reason).toBe('finished')
})

test('a paused reader applies backpressure to the publisher, without ending the stream or filling memory', async () => {
  const { publisher, stream } = await receiving({ silenceMs: 100 })
  stream.flv.pause()
  const frame = Buffer.concat(Array.from({ length: 250 }, () => mediaMessage(9, 0, Buffer.alloc(4000, 0x27))))
  let isFull = false
  for (let sent = 0; sent < 64 && !isFull; sent += 1) isFull = !publisher.write(frame) && publisher.writableLength > 16 * frame.length
  await until(() => publisher.writableLength > 0 && stream.flv.readableLength > 0)
  expect(stream.flv.readableLength).toBeLessThan(3 * 2 ** 20)
  stream.flv.resume()
  await until(() => publisher.writableLength === 0)
  publisher.write(command('FCUnpublish', 6, null, 'secret'))
  expect((await stream.ended).reason).toBe('finished')
})

test('a stopped stream is distinguished from a broken connection', async () => {
  const [one, other] = [await receiving(), await receiving()]
  one.stream.stop('The video was removed.')
  other.publisher.destroy()
  expect(await one.stream.ended).toEqual({ reason: 'stopped', detail: 'The video was removed.' })
  expect((await other.stream.ended).reason).toBe('disconnected')
})
