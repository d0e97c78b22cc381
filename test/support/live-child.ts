// The process of one live stream in tests: takes over a connection, cuts its stream into segments, and logs each to `log.jsonl` in its
// folder. Arguments: the folder, and the duration of a segment in seconds.

import { appendFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { cutPieces, receiveStream } from '../../src/media/index.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { serverFfmpeg } from './media.ts'

const [folder = '.', seconds = '4'] = process.argv.slice(2)
const note = (entry: unknown): void => appendFileSync(join(folder, 'log.jsonl'), `${JSON.stringify(entry)}\n`)

process.once('message', ({ handover }, socket) => {
  if (!(socket instanceof Socket)) return note({ end: { reason: 'disconnected', detail: 'The connection was gone.' } })
  take(handover, socket).finally(() => {
    if (process.connected) process.disconnect()
  })
})

async function take(handover: Parameters<typeof receiveStream>[0]['handover'], socket: Socket): Promise<void> {
  const stream = receiveStream({ socket, handover })
  const cut = await cutPieces({
    ffmpeg: await serverFfmpeg(),
    flv: stream.flv,
    folder,
    seconds: Number(seconds),
    firstSequence: 1,
    isContinuation: false,
    onPiece: (piece) => note({ piece }),
    clock: systemClock,
    logger: silentLogger,
  })
  note({ end: await stream.ended, cut })
}
