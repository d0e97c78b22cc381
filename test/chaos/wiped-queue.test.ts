// The queue can be wiped at any time, on either back end, without losing work.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Redis } from 'ioredis'
import { eventually as awaited, type Client, login } from '../../scripts/demo/client.ts'
import { freePort } from '../support/ports.ts'
import { canStartRedis, startOwnRedis } from '../support/redis.ts'
import { eventually } from '../support/until.ts'
import { ask, type Child, dataFolder, PASSWORD, processesIn, start, USERNAME } from './support/child.ts'
import { explained, untilSettled } from './support/orphans.ts'
import { makePeer } from './support/peer.ts'
import { persistentUpload } from './support/persistent-upload.ts'
import { channelOf, makeVideo, untilWhole } from './support/videos.ts'

const LADDER = [360, 240, 144]
const backEnds = ['PostgreSQL', ...(canStartRedis() ? ['Redis'] : [])]

describe.each(backEnds)('on %s', (backEnd) => {
  const folder = dataFolder({ prepared: true })
  let redis: Awaited<ReturnType<typeof startOwnRedis>> | undefined
  let node: Child
  let client: Client

  beforeAll(async () => {
    redis = backEnd === 'Redis' ? await startOwnRedis() : undefined
    const env = {
      VIREO__VIREO__FEDERATION__DELIVERY__INITIAL_BACKOFF: '500 ms',
      VIREO__VIREO__FEDERATION__DELIVERY__MAX_BACKOFF: '500 ms',
      ...(redis ? { REDIS_URL: redis.url } : {}),
    }
    node = await start({ dataDir: folder.path, port: await freePort(), env })
    client = await login(node.base, USERNAME, PASSWORD)
  })

  afterAll(async () => {
    await node?.kill9({ database: true })
    await folder.remove()
    await redis?.stop()
  })

  /** FLUSHALL, or truncates all tables of the queue. */
  async function wipe(): Promise<void> {
    if (redis) {
      const connection = new Redis(redis.url)
      await connection.flushall()
      connection.disconnect()
      return
    }
    const tables = await ask<{ name: string }>(
      folder.path,
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname = 'bullmq' and tablename not like '%migration%'`,
    )
    expect(tables.length).toBeGreaterThan(0)
    const truncate = `truncate ${tables.map(({ name }) => name).join(', ')}`
    // The queue's own statements lock the tables in another order, so that this may have to retry after a deadlock.
    await eventually(async () => void (await ask(folder.path, truncate)))
  }

  async function upload(name: string, bytes: Buffer): Promise<string> {
    const fields = { channelId: await channelOf(client), name, filename: `${name}.mp4`, privacy: 1 }
    const { uuid } = await persistentUpload({ client, bytes, chunkSize: bytes.length, fields }).proceed()
    return uuid
  }

  it('completes the running and the waiting transcoding', async () => {
    const bytes = await makeVideo(10)
    const running = await upload('running', bytes)
    await awaited('the start of ffmpeg', 600_000, async () =>
      processesIn(folder.path).some(({ command }) => command.includes('transcoding-')),
    )
    await wipe()
    const waiting = await upload('waiting', bytes)
    await wipe()
    await explained(node, folder.path, async () => {
      for (const uuid of [running, waiting]) await untilWhole(client, uuid, LADDER)
      await untilSettled(folder.path)
    })
  })

  it('completes the deliveries in progress, and those that wait for the peer', async () => {
    const peer = await makePeer()
    await peer.start()
    try {
      await peer.follows(folder.path)
      peer.holding = true
      const uuid = await upload('delivered', await makeVideo(1))
      await untilWhole(client, uuid, LADDER)
      await awaited('a delivery', 600_000, async () => peer.held > 0)
      await wipe()
      await peer.stop()
      await awaited('failed deliveries', 600_000, async () => {
        const failing = await ask(folder.path, "select id from remote_host where state = 'failing'")
        return failing.length > 0
      })
      await wipe()
      peer.holding = false
      await peer.start()
      await explained(node, folder.path, async () => {
        await awaited('the video at the peer', 600_000, async () => {
          return peer.taken.includes('Create') && peer.taken.includes('Announce')
        })
        await awaited('an end of the deliveries', 600_000, async () => {
          return (await ask(folder.path, 'select id from delivery')).length === 0
        })
        await untilSettled(folder.path)
      })
    } finally {
      await peer.stop()
    }
  })
})
