// The process of one player of a live stream, which is a remote runner: takes its connection and sends it the pieces of the stream as they are
// stored, whichever process receives them. Started by compose/live.ts.

import { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { findPlayedStream, type PlayedStream } from './actors/live/live.queries.ts'
import type { PlayedJob } from './actors/live/remote-renditions.ts'
import { leaseOwner } from './actors/runtime/index.ts'
import type { Config } from './config/index.ts'
import { openStore } from './connections.ts'
import { type Ffmpeg, hlsFile, pieceName, type SendStreamOptions, type SentPiece, StorageOutage, sendStream } from './media/index.ts'
import { isDatabaseOutage, makeDatabase } from './platform/database/index.ts'
import { makeLogger } from './platform/logger.ts'

/** What the acceptor sends with the socket. It holds secrets, so it crosses by IPC, not by arguments. */
export interface LivePlayerOrder {
  handover: SendStreamOptions['handover']
  played: PlayedJob
  config: Config
  database: { url: string; ssl: boolean; verifyCertificate: boolean }
  ffmpeg: Ffmpeg
}

/** ms between two looks for new pieces. */
const LOOK_EVERY = 300

process.once('message', (order: LivePlayerOrder, socket: unknown) => {
  if (!(socket instanceof Socket)) process.exit()
  play(order, socket).then(
    () => process.exit(),
    (error: unknown) => {
      makeLogger(order.config.log).error({ err: error, session: order.played.sessionId }, 'a live stream cannot be played')
      process.exit(1)
    },
  )
})

async function play({ handover, played, config, database, ffmpeg }: LivePlayerOrder, socket: Socket): Promise<void> {
  const logger = makeLogger(config.log)
  const { sessionId, jobUuid, sound } = played
  const tokenHash = Buffer.from(played.tokenHash, 'hex')
  const { store } = openStore(config, leaseOwner())
  await sendStream({ ffmpeg, socket, handover, pieces: pieces(), sound, niceness: config.vireo.media.nice_live })

  async function* pieces(): AsyncGenerator<SentPiece> {
    const db = await makeDatabase({ ...database, poolMax: 1, entities: [], migrations: [], logger })
    let after: number | null = null
    for (;;) {
      const stream: PlayedStream | undefined = await persist(() => findPlayedStream(db, { sessionId, jobUuid, tokenHash, after }))
      if (!stream?.isLeased) return
      const { uuid, isRunning, pieces } = stream
      for (const { sequence, generation, isPrivate } of pieces) {
        const file = hlsFile(uuid, pieceName(0, sequence), isPrivate)
        yield { generation, content: (await persist(() => store.open(file))).stream }
        after = sequence
      }
      if (pieces.length === 0 && !isRunning) return
      if (pieces.length === 0) await pause(LOOK_EVERY)
    }
  }
}

/** Waits for a database or a store that is away. The runner waits too, or loses the job and ends this connection. */
async function persist<T>(read: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (!isDatabaseOutage(error) && !(error instanceof StorageOutage)) throw error
      await pause(LOOK_EVERY)
    }
  }
}
