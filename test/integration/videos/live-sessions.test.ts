// Live sessions without HTTP: admission, reconnections, and timeouts.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  findLiveStream,
  findSessionOfReplay,
  hashesOf,
  type LiveSessions,
  listLiveSessions,
  makeLiveSessions,
  masterPlaylist,
  renditionPlaylist,
  type SaveReplayDeps,
  saveReplays,
  superviseLiveSessions,
} from '../../../src/actors/live/index.ts'
import { makePendingFiles, quotaLeft } from '../../../src/actors/video/index.ts'
import { openStore } from '../../../src/connections.ts'
import { makeUrls } from '../../../src/federation/urls.ts'
import type { Database } from '../../../src/platform/database/index.ts'
import { newUuid } from '../../../src/platform/ids.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { type MadeUser, makeUser, makeVideo, TEST_ORIGIN } from '../../support/builders.ts'
import { fakeClock } from '../../support/clock.ts'
import { testLoadedConfig } from '../../support/config.ts'
import { makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'

const clock = fakeClock(new Date('2026-11-20T12:00:00.000Z'))
const { config } = testLoadedConfig({ live: { enabled: true } })
let isEnabled = true
let maxDuration = -1
let made: TestRuntime
let db: Database
let sessions: LiveSessions
let user: MadeUser
/** Events for other servers and subscribers. */
const announced: [videoId: number, event: string][] = []

beforeAll(async () => {
  made = await makeTestRuntime({ clock })
  db = made.db
  await db.migrate()
  const { tell, registry } = made.runtime
  const now = () => ({ ...config, live: { ...config.live, enabled: isEnabled, max_duration: maxDuration } })
  const deps = {
    db,
    clock,
    tell,
    registry,
    logger: silentLogger,
    urls: makeUrls(TEST_ORIGIN),
    secrets: makeSecrets({ secret: 'a secret' }),
  }
  const leases = { owner: 'test', isGone: () => false }
  const { store } = openStore(config, 'test')
  const files = { ...deps, config: now, store, leases, pendingFiles: makePendingFiles({ ...deps, store, leases }) }
  sessions = makeLiveSessions({ ...files, quotaLeft })
  superviseLiveSessions(files)
  // No recording is made here.
  saveReplays(files as unknown as SaveReplayDeps)
  // Other nouns react to videos too.
  for (const event of ['VideoShown', 'VideoPublished', 'VideoUpdated'] as const) {
    registry.on(event, 'test', async ({ videoId }) => void announced.push([videoId, event]))
  }
  user = await makeUser(db)
})
afterAll(() => made?.stop())

async function makeLive({ permanent = false, saveReplay = false, columns = {} } = {}) {
  const key = newUuid()
  const { id, uuid } = await makeVideo(db, {
    channelId: user.channelId,
    bare: true,
    columns: { is_live: true, state: 'waiting-for-live', ...columns },
  })
  await db.query(
    `insert into video_live (video_id, stream_key, save_replay, replay_privacy, permanent_live, latency_mode) values ($1, $2, $4, 2, $3, 3)`,
    [id, key, permanent, saveReplay],
  )
  return { id, uuid, key }
}
const stateOf = async (videoId: number) => {
  await made.runtime.relay.drain()
  return (await db.query<{ state: string }>('select state from video where id = $1', [videoId]))[0]?.state
}
const sessionsOf = async (videoId: number) =>
  (await listLiveSessions(db, videoId)).map(({ state, error }) => (error ? [state, error] : [state]))
const timeOut = (id: number) => made.runtime.registry.timeouts.get('live-session')?.timedOut(id)
const save = (id: number) =>
  made.runtime.registry.jobs.get('video-live-ending')?.run({ data: { liveSessionId: id }, signal: new AbortController().signal } as never)
const piece = (sequence: number, generation: number) => ({
  generation,
  sequence,
  seconds: 2,
  bytes: 1000,
  sha256: String(sequence).padStart(64, '0'),
  startsAt: new Date(clock.now().getTime() + sequence * 2000),
  isPrivate: false,
})
const began = async (options?: Parameters<typeof makeLive>[0]) => {
  const live = await makeLive(options)
  const stream = await sessions.accept(live.key)
  await sessions.addPiece(stream.sessionId, piece(stream.nextSequence, stream.generation))
  return { ...live, ...stream }
}

describe('a stream', () => {
  it('is accepted with its key, and publishes the video with its first segment', async () => {
    const { id, key } = await makeLive()
    const stream = await sessions.accept(key.toUpperCase())
    expect(stream).toMatchObject({ generation: 1, videoId: id, latencyMode: 3 })
    expect([await stateOf(id), await sessionsOf(id)]).toEqual(['waiting-for-live', [['receiving']]])
    await sessions.addPiece(stream.sessionId, piece(0, 1))
    expect([await stateOf(id), await sessionsOf(id)]).toEqual(['published', [['publishing']]])
    expect(await listLiveSessions(db, id)).toMatchObject([
      { startedAt: clock.now(), endedAt: null, saveReplay: false, replayPrivacy: 2, replay: null },
    ])
  })

  it.each([
    ['a blocked video', { blocked: true }, 'forbidden'],
    ['a live that has ended', { state: 'live-ended' }, 'gone'],
    ['a removed video', { state: 'removed' }, 'not_found'],
  ])('is refused for %s', async (_, columns, kind) => {
    await expect(sessions.accept((await makeLive({ columns })).key)).rejects.toMatchObject({ kind })
  })

  it.each([newUuid(), "' or true --", ''])('is refused for the unknown key %s', async (key) => {
    await expect(sessions.accept(key)).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('is refused while lives are disabled, or their owner is blocked', async () => {
    const { key } = await makeLive()
    isEnabled = false
    await expect(sessions.accept(key)).rejects.toMatchObject({ kind: 'forbidden' })
    isEnabled = true
    await db.query("update users set state = 'blocked' where id = $1", [user.id])
    await expect(sessions.accept(key)).rejects.toMatchObject({ kind: 'forbidden' })
    await db.query("update users set state = 'active' where id = $1", [user.id])
    await expect(sessions.accept(key)).resolves.toMatchObject({ generation: 1 })
  })

  it('has one publisher at a time: of twenty simultaneous ones one is accepted', async () => {
    const { key } = await makeLive()
    const tried = await Promise.allSettled(Array.from({ length: 20 }, () => sessions.accept(key)))
    expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const one of tried) if (one.status === 'rejected') expect(one.reason).toMatchObject({ kind: 'conflict' })
  })
})

describe('a lost publisher', () => {
  it('continues the session as its next generation, and reports of the previous one are refused', async () => {
    const { id, key, sessionId } = await began()
    await sessions.end(sessionId, { type: 'LOST', generation: 1 })
    expect([await stateOf(id), await sessionsOf(id)]).toEqual(['published', [['interrupted']]])
    expect(await sessions.accept(key)).toMatchObject({ sessionId, generation: 2 })
    await expect(sessions.end(sessionId, { type: 'FINISHED', generation: 1 })).rejects.toMatchObject({ kind: 'conflict' })
    expect([await stateOf(id), await sessionsOf(id)]).toEqual(['published', [['publishing']]])
  })

  it('sends nothing: other servers only get the start and the end', async () => {
    const { id, key, sessionId } = await began()
    const events = async () => {
      await stateOf(id)
      return announced.filter(([videoId]) => videoId === id).map(([, event]) => event)
    }
    expect(await events()).toEqual(['VideoShown', 'VideoUpdated'])
    await sessions.end(sessionId, { type: 'LOST', generation: 1 })
    await sessions.accept(key)
    await sessions.addPiece(sessionId, piece(1, 2))
    expect(await events()).toEqual(['VideoShown', 'VideoUpdated'])
    await sessions.end(sessionId, { type: 'FINISHED', generation: 2 })
    expect(await events()).toEqual(['VideoShown', 'VideoUpdated', 'VideoUpdated'])
  })

  it('continues in the same generation when its receiver could not report', async () => {
    const { id, sessionId } = await began()
    clock.pass(config.vireo.live.no_data_timeout)
    await timeOut(sessionId)
    expect(await sessionsOf(id)).toEqual([['interrupted']])
    await sessions.addPiece(sessionId, piece(1, 1))
    expect([await stateOf(id), await sessionsOf(id)]).toEqual(['published', [['publishing']]])
  })

  it('is replaced at once after the timeout, before anything has noticed', async () => {
    const { key, sessionId } = await began()
    await expect(sessions.accept(key)).rejects.toMatchObject({ kind: 'conflict' })
    clock.pass(config.vireo.live.no_data_timeout)
    expect(await sessions.accept(key)).toMatchObject({ sessionId, generation: 2 })
  })

  it('is replaced within seconds when it sends nothing, and not while it sends', async () => {
    const { id, key, sessionId } = await began()
    const first = { sessionId, generation: 1 }
    clock.pass(7_000)
    expect(await sessions.reportAlive(first, 2_000)).toBe(true)
    clock.pass(5_000)
    await expect(sessions.accept(key)).rejects.toMatchObject({ kind: 'conflict' })
    expect(await sessions.reportAlive(first, 8_000)).toBe(true)
    expect(await sessions.accept(key)).toMatchObject({ sessionId, generation: 2 })
    expect(await sessions.reportAlive(first, 0)).toBe(false)
    expect(await sessions.reportAlive({ sessionId, generation: 2 }, 0)).toBe(true)
    expect(await sessionsOf(id)).toEqual([['publishing']])
  })

  it('without any segment leaves its place to a new session', async () => {
    const { id, key } = await makeLive()
    const { sessionId } = await sessions.accept(key)
    clock.pass(8_000)
    const next = await sessions.accept(key)
    expect([next.generation, next.sessionId === sessionId]).toEqual([1, false])
    expect(await sessionsOf(id)).toEqual([['ended', 'bad-socket-health'], ['receiving']])
    expect(await sessions.reportAlive({ sessionId, generation: 1 }, 0)).toBe(false)
  })

  it('ends the live after the reconnection window, and a permanent one waits for its next stream', async () => {
    for (const [permanent, state] of [
      [false, 'live-ended'],
      [true, 'waiting-for-live'],
    ] as const) {
      const { id, key, sessionId } = await began({ permanent })
      await timeOut(sessionId)
      expect(await sessionsOf(id)).toEqual([['publishing']])
      clock.pass(config.vireo.live.no_data_timeout)
      await timeOut(sessionId)
      expect([await stateOf(id), await sessionsOf(id)]).toEqual(['published', [['interrupted']]])
      clock.pass(config.vireo.live.reconnect_window)
      await timeOut(sessionId)
      expect([await stateOf(id), await sessionsOf(id)]).toEqual([state, [['ending']]])
      expect((await listLiveSessions(db, id))[0]?.endedAt).toEqual(clock.now())
      await save(sessionId)
      await save(sessionId)
      expect(await sessionsOf(id)).toEqual([['ended']])
      if (permanent) expect(await sessions.accept(key)).toMatchObject({ generation: 1 })
      else await expect(sessions.accept(key)).rejects.toMatchObject({ kind: 'gone' })
    }
  })

  it('before the first segment leaves the live as it was, with the reason in the session', async () => {
    const { id, key } = await makeLive()
    const { sessionId } = await sessions.accept(key)
    clock.pass(config.vireo.live.no_data_timeout)
    await timeOut(sessionId)
    const second = await sessions.accept(key)
    await sessions.end(second.sessionId, { type: 'FAILED', generation: 1, error: 'invalid-input' })
    expect([await stateOf(id), await sessionsOf(id)]).toEqual([
      'waiting-for-live',
      [
        ['ended', 'bad-socket-health'],
        ['ended', 'invalid-input'],
      ],
    ])
    expect(await sessions.accept(key)).toMatchObject({ generation: 1 })
  })
})

it('ends the session at once when it stops, and names the replay that records it', async () => {
  const { id, sessionId } = await began()
  await sessions.end(sessionId, { type: 'FINISHED', generation: 1 })
  expect(await stateOf(id)).toBe('live-ended')
  const replay = await makeVideo(db, { channelId: user.channelId, bare: true })
  await db.query('update live_session set replay_video_id = $2 where id = $1', [sessionId, replay.id])
  expect(await findSessionOfReplay(db, replay.id)).toMatchObject({ id: sessionId, replay: { id: replay.id, uuid: replay.uuid } })
  await db.query("update video set state = 'removed' where id = $1", [replay.id])
  expect((await findSessionOfReplay(db, replay.id))?.replay).toBeNull()
})

describe('a limit ends the stream after its current segment, which is kept:', () => {
  const errorOf = async (id: number) => (await listLiveSessions(db, id)).at(-1)?.error

  it('the maximum duration', async () => {
    const { id, sessionId } = await began()
    maxDuration = 60_000
    try {
      clock.pass(60_000)
      expect(await sessions.addPiece(sessionId, piece(1, 1))).toBe(true)
      clock.pass(1)
      expect(await sessions.addPiece(sessionId, piece(2, 1))).toBe(false)
    } finally {
      maxDuration = -1
    }
    expect([await errorOf(id), await stateOf(id)]).toEqual(['duration-exceeded', 'live-ended'])
    await expect(sessions.addPiece(sessionId, piece(3, 1))).rejects.toMatchObject({ kind: 'conflict' })
  })

  it('the quota, if the recording counts', async () => {
    await db.query('update users set video_quota = 2500 where id = $1', [user.id])
    try {
      const [plain, saved] = [await began(), await began({ saveReplay: true })]
      for (const { sessionId } of [plain, saved]) expect(await sessions.addPiece(sessionId, piece(1, 1))).toBe(true)
      expect(await sessions.addPiece(plain.sessionId, piece(2, 1))).toBe(true)
      expect(await sessions.addPiece(saved.sessionId, piece(2, 1))).toBe(false)
      expect([await errorOf(plain.id), await errorOf(saved.id)]).toEqual([null, 'quota-exceeded'])
    } finally {
      await db.query('update users set video_quota = -1 where id = $1', [user.id])
    }
  })

  it.each([
    ['a block of the video', (id: number) => db.query('update video set blocked = true where id = $1', [id])],
    ['the removal of the video', (id: number) => db.query("update video set state = 'removed' where id = $1", [id])],
    ['a block of its owner', () => db.query("update users set state = 'blocked' where id = $1", [user.id])],
  ])('%s', async (_name, block) => {
    const { id, sessionId } = await began()
    await block(id)
    try {
      expect(await sessions.addPiece(sessionId, piece(1, 1))).toBe(false)
    } finally {
      await db.query("update users set state = 'active' where id = $1", [user.id])
    }
    expect(await errorOf(id)).toBe('blocked')
  })
})

it('all streams end when lives are disabled', async () => {
  const [one, other] = [await began(), await began({ permanent: true })]
  await sessions.stopAll()
  expect([await stateOf(one.id), await stateOf(other.id)]).toEqual(['live-ended', 'waiting-for-live'])
  expect((await listLiveSessions(db, one.id))[0]).toMatchObject({ error: null, endedAt: expect.any(Date) })
})

describe('the segments of a live', () => {
  it('are removed some time after the end, and the next session continues their numbers', async () => {
    const { uuid, key, sessionId } = await began({ permanent: true })
    await sessions.addPiece(sessionId, piece(1, 1))
    await sessions.end(sessionId, { type: 'FINISHED', generation: 1 })
    await save(sessionId)
    expect((await findLiveStream(db, { uuid: uuid, rendition: 0, most: 15 }))?.pieces).toHaveLength(2)
    clock.pass(config.vireo.live.cleanup_delay)
    await timeOut(sessionId)
    const names = await db.query<{ name: string }>("select name from pending_file where owner = 'nobody' and name like $1 order by name", [
      `%${uuid}%`,
    ])
    // Including one that its receiver may have stored without a row.
    expect(names.map(({ name }) => name)).toEqual([
      ...['0-000000.ts', '0-000001.ts', '0-000002.ts'].map((name) => `hls/${uuid}/${name}`),
      `hls/private/${uuid}/0-000002.ts`,
    ])
    expect(await findLiveStream(db, { uuid: uuid, rendition: 0, most: 15 })).toBeUndefined()
    expect(await sessions.accept(key)).toMatchObject({ nextSequence: 3 })
  })

  it('are numbered across sessions, and published once however often they are reported', async () => {
    const first = await began({ permanent: true })
    await sessions.addPiece(first.sessionId, piece(1, 1))
    await sessions.addPiece(first.sessionId, piece(1, 1))
    await sessions.end(first.sessionId, { type: 'FINISHED', generation: 1 })
    expect(await findLiveStream(db, { uuid: first.uuid, rendition: 0, most: 15 })).toMatchObject({
      isRunning: false,
      pieces: [{ sequence: 0 }, { sequence: 1 }],
    })
    const second = await sessions.accept(first.key)
    expect(second).toMatchObject({ generation: 1, nextSequence: 3 })
    await sessions.addPiece(second.sessionId, piece(3, 1))
    expect(await findLiveStream(db, { uuid: first.uuid, rendition: 0, most: 15 })).toMatchObject({
      isRunning: true,
      pieces: [{ sequence: 3 }],
    })
  })

  it('of a replaced connection are refused', async () => {
    const { uuid, key, sessionId } = await began()
    await sessions.end(sessionId, { type: 'LOST', generation: 1 })
    expect(await sessions.accept(key)).toMatchObject({ generation: 2, nextSequence: 2 })
    await expect(sessions.addPiece(sessionId, piece(1, 1))).rejects.toMatchObject({ kind: 'conflict' })
    expect((await findLiveStream(db, { uuid: uuid, rendition: 0, most: 15 }))?.pieces).toHaveLength(1)
  })

  it('have numbers that no other connection gets: a file without a row is never replaced', async () => {
    const { key, sessionId, id } = await began({ permanent: true })
    const reconnect = async (generation: number) => {
      await sessions.end(sessionId, { type: 'LOST', generation })
      return (await sessions.accept(key)).nextSequence
    }
    expect([await reconnect(1), await reconnect(2), await reconnect(3)]).toEqual([2, 3, 4])
    await sessions.addPiece(sessionId, piece(4, 4))
    await sessions.end(sessionId, { type: 'FINISHED', generation: 4 })
    const second = await sessions.accept(key)
    expect(second).toMatchObject({ generation: 1, nextSequence: 6 })
    await sessions.end(second.sessionId, { type: 'LOST', generation: 1 })
    expect(await sessions.accept(key)).toMatchObject({ generation: 1, nextSequence: 7 })
    expect(await sessionsOf(id)).toHaveLength(3)
  })

  it('are consecutive in the playlist, and connections without a segment cause no discontinuity', async () => {
    const { uuid, key, sessionId } = await began()
    const heads: string[][] = []
    const look = async (most: number) => {
      const { isRunning = false, pieces = [] } = (await findLiveStream(db, { uuid, rendition: 0, most })) ?? {}
      const lines = renditionPlaylist({ pieces: pieces.slice(-most), isRunning, target: 2 }).split('\n')
      heads.push(lines.filter((line) => /SEQUENCE|DISCONTINUITY|\.ts$/.test(line)).map((line) => line.replace('#EXT-X-', '')))
    }
    for (const generation of [1, 2, 3]) {
      await sessions.end(sessionId, { type: 'LOST', generation })
      await sessions.accept(key)
    }
    await sessions.addPiece(sessionId, piece(4, 4))
    await sessions.addPiece(sessionId, piece(4, 4))
    await look(15)
    await sessions.addPiece(sessionId, piece(5, 4))
    await look(2)
    expect(heads).toEqual([
      ['MEDIA-SEQUENCE:0', '0-000000.ts', 'DISCONTINUITY', '0-000004.ts'],
      ['MEDIA-SEQUENCE:1', 'DISCONTINUITY-SEQUENCE:1', '0-000004.ts', '0-000005.ts'],
    ])
  })

  it('are the newest in the playlist, with a discontinuity for each reconnection', async () => {
    const { uuid, key, sessionId } = await began()
    await sessions.addPiece(sessionId, piece(1, 1))
    await sessions.end(sessionId, { type: 'LOST', generation: 1 })
    await sessions.accept(key)
    await sessions.addPiece(sessionId, { ...piece(3, 2), seconds: 2.05 })
    const { isRunning = false, pieces = [] } = (await findLiveStream(db, { uuid: uuid, rendition: 0, most: 3 })) ?? {}
    const at = (n: number) => piece(n, 1).startsAt.toISOString().replace('Z', '+0000')
    const expected = `#EXTM3U
#EXT-X-VERSION:6
#EXT-X-TARGETDURATION:2
#EXT-X-MEDIA-SEQUENCE:1
#EXT-X-INDEPENDENT-SEGMENTS
#EXTINF:2.000000,
#EXT-X-PROGRAM-DATE-TIME:${at(1)}
0-000001.ts
#EXT-X-DISCONTINUITY
#EXTINF:2.050000,
#EXT-X-PROGRAM-DATE-TIME:${at(3)}
0-000003.ts
`
    expect(renditionPlaylist({ pieces, isRunning, target: 2 })).toBe(expected)
    const last = renditionPlaylist({ pieces: pieces.slice(1), isRunning: false, target: 2 })
    expect(last).toContain('#EXT-X-MEDIA-SEQUENCE:2\n#EXT-X-DISCONTINUITY-SEQUENCE:1\n')
    expect(last).toMatch(/0-000003\.ts\n#EXT-X-ENDLIST\n$/)
    expect(hashesOf(pieces)).toEqual({ '0-000001.ts': '1'.padStart(64, '0'), '0-000003.ts': '3'.padStart(64, '0') })
  })

  const encoded = (rendition: number, height: number) => ({
    rendition,
    width: (height * 16) / 9,
    height,
    codecs: ['avc1.64001e', 'mp4a.40.2'],
    picture: { targetBitrate: 500_000, fps: 25, everyNth: 1, keyFrameEvery: 100, level: 30 },
    bandwidth: 600_000,
  })
  const plan = {
    source: { rendition: 0, width: 1280, height: 720, codecs: ['avc1.64001f', 'mp4a.40.2'] },
    isSourceShown: true,
    encoded: [encoded(1, 360), encoded(2, 144)],
  }

  it('have the renditions that the first one planned', async () => {
    const { uuid, key } = await makeLive({ permanent: true })
    const accepted = await sessions.accept(key)
    expect(accepted.isPlanned).toBe(false)
    const { sessionId } = accepted
    await sessions.addPiece(sessionId, { ...piece(0, 1), plan })
    const sent = await db.query('select event from outbox where aggregate = $1 and aggregate_id = $2', ['live_session', sessionId])
    expect(sent).toEqual([{ event: 'LivePieceStored' }])
    await sessions.end(sessionId, { type: 'LOST', generation: 1 })
    expect((await sessions.accept(key)).isPlanned).toBe(true)
    await sessions.addPiece(sessionId, { ...piece(2, 2), plan: { ...plan, encoded: [] } })
    await db.query(
      `insert into live_rendition_piece (session_id, rendition, sequence, bytes, sha256)
       values ($1, 1, 0, 1000, 'aa'), ($1, 2, 0, 500, 'bb'), ($1, 1, 2, null, null), ($1, 2, 2, null, null)`,
      [sessionId],
    )
    const received = await findLiveStream(db, { uuid, rendition: 0, most: 15 })
    expect(received?.plan).toEqual(plan)
    expect(
      masterPlaylist({ plan, pieces: received?.pieces ?? [] })
        .split('\n')
        .slice(2),
    ).toEqual([
      expect.stringMatching(/^#EXT-X-STREAM-INF:BANDWIDTH=\d+,RESOLUTION=1280x720,CODECS="avc1.64001f,mp4a.40.2"$/),
      '0.m3u8',
      '',
      '#EXT-X-STREAM-INF:BANDWIDTH=600000,RESOLUTION=640x360,CODECS="avc1.64001e,mp4a.40.2"',
      '1.m3u8',
      '',
      '#EXT-X-STREAM-INF:BANDWIDTH=600000,RESOLUTION=256x144,CODECS="avc1.64001e,mp4a.40.2"',
      '2.m3u8',
      '',
      '',
    ])
    const all = (await findLiveStream(db, { uuid, rendition: null, most: 15 }))?.pieces ?? []
    expect(Object.keys(hashesOf(all)).toSorted()).toEqual(['0-000000.ts', '0-000002.ts', '1-000000.ts', '2-000000.ts'])
    const { pieces = [] } = (await findLiveStream(db, { uuid, rendition: 2, most: 15 })) ?? {}
    expect(renditionPlaylist({ pieces, isRunning: true, target: 2 })).toMatch(
      /\n2-000000\.ts\n#EXT-X-DISCONTINUITY\n#EXTINF:2\.0+,\n#EXT-X-PROGRAM-DATE-TIME:[^\n]+\n#EXT-X-GAP\n2-000002\.ts\n$/,
    )
    await sessions.end(sessionId, { type: 'FINISHED', generation: 2 })
    await save(sessionId)
    clock.pass(config.vireo.live.cleanup_delay)
    await timeOut(sessionId)
    const names = await db.query<{ name: string }>("select name from pending_file where owner = 'nobody' and name like $1", [`%${uuid}%`])
    expect(names.map(({ name }) => name.split('/').at(-1)).toSorted()).toEqual(
      // Both paths of those that may have been stored without a row.
      [
        ...['0-000000.ts', '0-000001.ts', '0-000001.ts', '0-000002.ts', '0-000003.ts', '0-000003.ts'],
        ...['1-000000.ts', '1-000002.ts', '2-000000.ts', '2-000002.ts'],
      ],
    )
  })
})
