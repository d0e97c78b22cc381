// Playback reports of players: counting, validation, and no work when metrics are off.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type App, makeApp } from '../../../src/http/app.ts'
import { metricsArea } from '../../../src/http/metrics/routes.ts'
import type { Database } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeTelemetry, type Telemetry } from '../../../src/platform/telemetry.ts'
import { type MadeVideo, makeRemoteChannel, makeUser, makeVideo, TEST_ORIGIN } from '../../support/builders.ts'
import { testConfig } from '../../support/config.ts'
import { parseMetrics } from '../../support/prometheus.ts'
import { makeTestRuntime } from '../../support/runtime.ts'

let db: Database
let stop: () => Promise<void>
let local: MadeVideo
let remote: MadeVideo
const apps: App[] = []
beforeAll(async () => {
  ;({ db, stop } = await makeTestRuntime())
  await db.migrate()
  local = await makeVideo(db, { channelId: (await makeUser(db)).channelId })
  const { channelId } = await makeRemoteChannel(db, { host: 'home.example' })
  remote = await makeVideo(db, { channelId, remoteOrigin: 'https://home.example' })
})
afterAll(async () => {
  for (const app of apps) await app.close()
  await stop?.()
})

async function start({ enabled = true } = {}) {
  const telemetry = enabled ? await makeTelemetry() : undefined
  const app = await makeApp({
    config: () => testConfig(),
    logger: silentLogger,
    publicUrl: TEST_ORIGIN,
    version: '0',
    checkResponses: true,
    authenticate: async () => null,
    areas: [metricsArea({ db, telemetry })],
  })
  apps.push(app)
  const report = (body: object) => app.inject({ method: 'POST', url: '/api/v1/metrics/playback', payload: body })
  return { telemetry, report }
}

const REPORT = {
  playerMode: 'p2p-media-loader',
  resolution: 720,
  fps: 30,
  p2pEnabled: true,
  p2pPeers: 3,
  bufferStalled: 1,
  resolutionChanges: 2,
  errors: 1,
  downloadedBytesP2P: 10,
  downloadedBytesHTTP: 200,
  uploadedBytesP2P: 5,
}

const families = async (telemetry: Telemetry | undefined) =>
  [...parseMetrics((await telemetry?.text()) ?? '')].filter(([name]) => name.startsWith('vireo_playback_'))

/** Sums over all series. */
const sums = async (telemetry: Telemetry | undefined) =>
  Object.fromEntries(
    (await families(telemetry)).map(([name, { samples }]) => [
      name.replace(/^vireo_playback_|_total$/g, ''),
      samples.reduce((sum, { value }) => sum + value, 0),
    ]),
  )
const labels = async (telemetry: Telemetry | undefined) =>
  (await families(telemetry)).find(([name]) => name === 'vireo_playback_reports_total')?.[1].samples.map(({ labels: one }) => one)

describe('a report', () => {
  it('is added to the totals, for a video by id or UUID', async () => {
    const { telemetry, report } = await start()
    for (const videoId of [local.id, local.uuid, remote.uuid]) {
      const answer = await report({ ...REPORT, videoId })
      expect([answer.statusCode, answer.body]).toEqual([204, ''])
    }
    expect(await sums(telemetry)).toEqual({
      reports: 3,
      resolution_changes: 6,
      buffer_stalled: 3,
      errors: 3,
      p2p_peers: 9,
      p2p_downloaded_bytes: 30,
      http_downloaded_bytes: 600,
      p2p_uploaded_bytes: 15,
    })
    const of = { player: 'p2p-media-loader', p2p: 'on', resolution: '720' }
    expect(await labels(telemetry)).toEqual([
      { ...of, origin: 'local' },
      { ...of, origin: 'remote' },
    ])
  })

  it('creates no series from arbitrary values', async () => {
    const { telemetry, report } = await start()
    for (const resolution of [1, 2, 3, 4321]) await report({ ...REPORT, resolution, videoId: local.id })
    const { resolution: _, ...sound } = REPORT
    await report({ ...sound, unknown: 'x', videoId: local.id })
    expect((await labels(telemetry))?.map(({ resolution }) => resolution)).toEqual(['other', 'unknown'])
  })

  it('needs no field that only some players know', async () => {
    const { report } = await start()
    const { resolution: _r, fps: _f, p2pPeers: _p, bufferStalled: _b, ...least } = REPORT
    expect((await report({ ...least, videoId: local.id })).statusCode).toBe(204)
  })

  it.each<[string, object]>([
    ['playerMode', { playerMode: 'hello' }],
    ['resolution', { resolution: -1 }],
    ['fps', { fps: '30 fps' }],
    ['p2pEnabled', { p2pEnabled: 'yes' }],
    ['p2pPeers', { p2pPeers: -1 }],
    ['bufferStalled', { bufferStalled: null }],
    ['resolutionChanges', { resolutionChanges: undefined }],
    ['errors', { errors: 'x' }],
    ['downloadedBytesP2P', { downloadedBytesP2P: 1e300 }],
    ['downloadedBytesHTTP', { downloadedBytesHTTP: -1 }],
    ['uploadedBytesP2P', { uploadedBytesP2P: [1] }],
    ['videoId', { videoId: 'no video' }],
  ])('with an invalid %s is refused with its field, and not counted', async (name, bad) => {
    const { telemetry, report } = await start()
    const answer = await report({ ...REPORT, videoId: local.uuid, ...bad })
    expect(answer.statusCode).toBe(400)
    expect(Object.keys(answer.json()['invalid-params'])).toEqual([name])
    expect(await sums(telemetry)).toMatchObject({ reports: 0 })
  })

  it('names all invalid fields at once', async () => {
    const { report } = await start()
    const answer = await report({ playerMode: 'hello', videoId: local.uuid })
    expect(answer.statusCode).toBe(400)
    expect(Object.keys(answer.json()['invalid-params']).sort()).toEqual([
      'downloadedBytesHTTP',
      'downloadedBytesP2P',
      'errors',
      'p2pEnabled',
      'playerMode',
      'resolutionChanges',
      'uploadedBytesP2P',
    ])
  })

  it('of an unknown video is not counted', async () => {
    const { telemetry, report } = await start()
    const answer = await report({ ...REPORT, videoId: 424242 })
    expect(answer.statusCode).toBe(404)
    expect(await sums(telemetry)).toMatchObject({ reports: 0 })
  })
})

it('without metrics, reports are not validated', async () => {
  const { telemetry, report } = await start({ enabled: false })
  for (const body of [{ ...REPORT, videoId: local.id }, { playerMode: 'hello' }, { ...REPORT, videoId: 424242 }]) {
    expect((await report(body)).statusCode).toBe(204)
  }
  expect(telemetry).toBeUndefined()
})
