// Processes of a live are killed while it runs: the recording contains everything that was acknowledged.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { eventually as awaited, type Client, login } from '../../scripts/demo/client.ts'
import { publish } from '../support/live.ts'
import { serverFfmpeg } from '../support/media.ts'
import { freePort } from '../support/ports.ts'
import { ask, type Child, dataFolder, PASSWORD, processesIn, start, USERNAME } from './support/child.ts'
import { createLive, detailsOf, type Live, untilPlays } from './support/lives.ts'

const folder = dataFolder({ prepared: true })
let options: Parameters<typeof start>[0]
let node: Child
let client: Client
let rtmp: number

beforeAll(async () => {
  rtmp = await freePort()
  options = {
    dataDir: folder.path,
    port: await freePort(),
    env: {
      VIREO__LIVE: JSON.stringify({ enabled: true, rtmp: { port: rtmp } }),
      VIREO__TRANSCODING: JSON.stringify({ enabled: false }),
      VIREO__VIREO__LIVE: JSON.stringify({ segment_duration: '1 second' }),
    },
  }
  node = await start(options)
  client = await login(node.base, USERNAME, PASSWORD)
})

afterAll(async () => {
  await node?.kill9({ database: true })
  await folder.remove()
})

const piecesOf = ({ id }: Live) =>
  ask<{ generation: number; seconds: number }>(
    folder.path,
    'select p.generation, p.seconds from live_piece p join live_session s on s.id = p.session_id where s.video_id = $1 order by p.sequence',
    [id],
  )
const sessionsOf = ({ id }: Live) =>
  ask(folder.path, "select state, context->>'error' as error, replay_video_id from live_session where video_id = $1", [id])
const receivers = () => processesIn(folder.path).filter(({ command }) => command.includes('live-stream.ts'))

/** Frame numbers of the recording, once it is the video. */
async function picturesOfReplay(live: Live): Promise<number> {
  await awaited(
    'the recording',
    600_000,
    async () => !(await detailsOf(client, live)).isLive && (await detailsOf(client, live)).state.id === 1,
  )
  const [file] = (await detailsOf(client, live)).files
  const { ffprobePath } = await serverFfmpeg()
  const counting = ['-v', 'error', '-select_streams', 'v:0', '-count_frames', '-show_entries', 'stream=nb_read_frames', '-of', 'csv=p=0']
  const { stdout } = await promisify(execFile)(ffprobePath, [...counting, file?.fileUrl ?? join(folder.path, 'no file')])
  return Number.parseInt(stdout, 10)
}

it.each([
  ['the process that accepted it', async () => node.signal('SIGKILL', 'process')],
  ['the whole server with its database', async () => node.strike({ database: true })],
])('continues while %s dies and restarts', async (name, kill) => {
  const live = await createLive(client, rtmp, name)
  const seconds = 20
  const sending = publish(live.url, { seconds, paced: true })
  await untilPlays(client, live)
  await kill()
  // Its output stays open as long as the stream's process, which writes to it too.
  await awaited('the end of the server', 600_000, async () => !processesIn(folder.path).some(({ pid }) => pid === node.pid))
  expect(receivers()).toHaveLength(1)
  node = await start(options)
  expect((await sending).code).toBe(0)
  expect(await picturesOfReplay(live)).toBe(seconds * 25)
  expect(await sessionsOf(live)).toEqual([{ state: 'ended', error: null, replay_video_id: live.id }])
})

it('keeps its segments when a hung process wakes up after another connection continued the session', async () => {
  const live = await createLive(client, rtmp, 'hung')
  const [first, second] = [new AbortController(), new AbortController()]
  const hanging = publish(live.url, { seconds: 600, paced: true, signal: first.signal })
  await untilPlays(client, live)
  const [hung] = receivers()
  if (!hung) throw new Error('There is no process.')
  process.kill(hung.pid, 'SIGSTOP')
  const before = (await piecesOf(live)).length
  const { sending } = await awaited('another connection', 600_000, async () => {
    const sent = publish(live.url, { seconds: 600, paced: true, signal: second.signal })
    return await Promise.race([sent.then(() => undefined), pause(3_000, { sending: sent })])
  })
  await awaited('its pieces', 600_000, async () => (await piecesOf(live)).length >= before + 3)
  process.kill(hung.pid, 'SIGCONT')
  await awaited('the end of the process', 600_000, async () => !processesIn(folder.path).some(({ pid }) => pid === hung.pid))
  const base = `${node.base}/static/streaming-playlists/hls/${live.uuid}`
  const hashes: Record<string, string> = await (await fetch(`${base}/segments-sha256.json`)).json()
  const digests = Object.keys(hashes).map(async (name) => {
    const bytes = await (await fetch(`${base}/${name}`)).arrayBuffer()
    return [name, Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')]
  })
  expect(Object.fromEntries(await Promise.all(digests))).toEqual(hashes)
  first.abort('vanished')
  second.abort('finished')
  await Promise.all([hanging, sending])
  await awaited('the end', 600_000, async () => (await detailsOf(client, live)).state.id !== 1 || !(await detailsOf(client, live)).isLive)
})

it('continues its session when its own process dies and the publisher reconnects', async () => {
  const live = await createLive(client, rtmp, 'received')
  const interrupted = publish(live.url, { seconds: 30, paced: true })
  await untilPlays(client, live)
  for (const { pid } of receivers()) process.kill(pid, 'SIGKILL')
  await interrupted
  const before = await piecesOf(live)
  expect((await publish(live.url, { seconds: 5, paced: true })).code).toBe(0)
  const pictures = await picturesOfReplay(live)
  const pieces = await piecesOf(live)
  expect(pieces.slice(0, before.length)).toEqual(before)
  expect(new Set(pieces.map(({ generation }) => generation))).toEqual(new Set([1, 2]))
  const acknowledged = pieces.reduce((sum, piece) => sum + piece.seconds, 0)
  expect(pictures).toBe(Math.round(acknowledged * 25))
  expect(await sessionsOf(live)).toEqual([{ state: 'ended', error: null, replay_video_id: live.id }])
})
