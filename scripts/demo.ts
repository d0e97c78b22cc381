// `npm run demo`: two nodes on loopback with temporary data run the journey of a video; each step is printed with its URL and time. Exits
// with 0 only if every step was verified. DATABASE_URL and REDIS_URL make them use existing servers.

import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { findFfmpeg } from '../src/media/index.ts'
import { eventually, login } from './demo/client.ts'
import { comeToRest, playJourney } from './demo/journey.ts'
import { freePort, type NodeProcess, startNode } from './demo/node-process.ts'

const run = promisify(execFile)
const SECONDS = 20
const LIVE_SECONDS = 10
/** `VideoState` of the contract. */
const PUBLISHED = 1

const folder = await mkdtemp(join(tmpdir(), 'vireo-demo-'))
const nodes: NodeProcess[] = []
const databases: string[] = []
const begun = performance.now()
try {
  const { ffmpegPath, ffprobePath } = await findFfmpeg({})
  const file = join(folder, 'journey.mp4')
  await run(ffmpegPath, [
    '-v',
    'error',
    '-f',
    'lavfi',
    '-i',
    `testsrc2=size=640x360:rate=25:duration=${SECONDS}`,
    '-f',
    'lavfi',
    '-i',
    `sine=frequency=440:beep_factor=4:duration=${SECONDS}`,
    '-c:v',
    'libx264',
    '-preset',
    'veryfast',
    '-pix_fmt',
    'yuv420p',
    '-c:a',
    'aac',
    file,
  ])
  say('generate a test video of 20 s with sound', file)

  for (const name of ['A', 'B']) {
    const env = { ...(await databaseOf(name)), VIREO__LIVE: JSON.stringify({ enabled: true, rtmp: { port: await freePort() } }) }
    const node = await startNode({ dataDir: join(folder, name), port: await freePort(), env })
    nodes.push(node)
    say(`start node ${name} on empty data`, node.base, node.startedInMs)
  }
  const [a, b] = nodes
  if (!a || !b) throw new Error('Two nodes are needed.')
  await playJourney({
    a,
    b,
    video: { bytes: await readFile(file), seconds: SECONDS },
    ffprobePath,
    report: ({ what, url, ms }) => say(what, url, ms),
  })
  await playLive(a, { ffmpegPath, file })
  await playOutage(a, b)
  console.log(`\nEvery step was verified, in ${Math.round((performance.now() - begun) / 1000)} s.`)
} catch (error) {
  console.error(`\nFAILED: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  await Promise.all(nodes.map((node) => node.stop()))
  for (const database of databases) await onServer(process.env.DATABASE_URL ?? '', `drop database ${database}`)
  await rm(folder, { recursive: true, force: true })
}

/** A streams the test video by RTMP, until its recording takes the place of the live. */
async function playLive(
  { base, username, password }: NodeProcess,
  { ffmpegPath, file }: { ffmpegPath: string; file: string },
): Promise<void> {
  const client = await login(base, username, password)
  const { videoChannels } = await client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const { video } = await client.send<{ video: { id: number; uuid: string } }>('POST', '/api/v1/videos/live', {
    channelId: videoChannels[0]?.id,
    name: 'Live for ten seconds',
    privacy: 1,
    saveReplay: true,
    replaySettings: { privacy: 1 },
  })
  const { rtmpUrl, streamKey } = await client.get<{ rtmpUrl: string; streamKey: string }>(`/api/v1/videos/live/${video.id}`)
  const page = `${base}/w/${video.uuid}`
  const stateOf = () => client.get<{ isLive: boolean; state: { id: number } }>(`/api/v1/videos/${video.uuid}`)
  const began = performance.now()
  const sending = run(ffmpegPath, [
    '-v',
    'error',
    '-re',
    '-t',
    `${LIVE_SECONDS}`,
    '-i',
    file,
    '-c',
    'copy',
    '-f',
    'flv',
    `${rtmpUrl}/${streamKey}`,
  ])
  await eventually('the live', 20_000, async () => (await stateOf()).state.id === PUBLISHED)
  say(`stream live to ${rtmpUrl}, and play it`, page, Math.round(performance.now() - began))
  await sending
  const ended = performance.now()
  await eventually('the recording', 60_000, async () => {
    const { isLive, state } = await stateOf()
    return !isLive && state.id === PUBLISHED
  })
  say('play the recording of the live', page, Math.round(performance.now() - ended))
}

/** B follows A again, and is down when A has an activity to send. */
async function playOutage(a: NodeProcess, b: NodeProcess): Promise<void> {
  const begun = performance.now()
  const [onA, onB] = await Promise.all([a, b].map(({ base, username, password }) => login(base, username, password)))
  if (!onA || !onB) return
  await onB.send('POST', '/api/v1/server/following', { hosts: [new URL(a.base).host] })
  await eventually('the follower', 20_000, async () => {
    return (await onA.get<{ data: { state: string }[] }>('/api/v1/server/followers')).data[0]?.state === 'accepted'
  })
  await b.stop()
  const { data } = await onA.get<{ data: { uuid: string }[] }>('/api/v1/videos?count=1')
  await onA.send('PUT', `/api/v1/videos/${data[0]?.uuid}`, { name: 'While B is away' })
  await comeToRest([onA])
  say('the jobs of A finish although B is down', a.base, Math.round(performance.now() - begun))
}

/** With DATABASE_URL, each node gets an empty database on that server; otherwise an embedded server. */
async function databaseOf(name: string): Promise<Record<string, string>> {
  const server = process.env.DATABASE_URL
  if (!server) return {}
  const database = `vireo_demo_${name.toLowerCase()}_${process.pid}`
  await onServer(server, `create database ${database}`)
  databases.push(database)
  const url = new URL(server)
  url.pathname = `/${database}`
  return { DATABASE_URL: url.href }
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

function say(what: string, url = '', ms?: number): void {
  const time = ms === undefined ? '' : `${(ms / 1000).toFixed(2)} s`
  console.log(`ok  ${what.padEnd(56)} ${time.padStart(8)}  ${url}`)
}
