// Each role in its own process on one PostgreSQL, without Redis. Each process does only its own work, clients need no sticky sessions, and
// periodic work is not doubled.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { generate } from 'otplib'
import { type Client, login, ok } from '../../scripts/demo/client.ts'
import { type FakePeer, startFakePeer } from '../support/fake-peer.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { ask, PASSWORD, USERNAME } from './support/child.ts'
import { type Cluster, makeCluster } from './support/cluster.ts'
import { explained, untilSettled } from './support/orphans.ts'
import { persistentUpload, type UploadedVideo } from './support/persistent-upload.ts'
import { channelOf, ladderOf, makeVideo } from './support/videos.ts'

const PRIVATE = 3
/** The job types of the role `media`. */
const MEDIA_JOBS = ['video-transcoding', 'manage-video-torrent', 'generate-video-storyboard', 'video-pictures']

let database: TestDatabase
let cluster: Cluster
let peer: FakePeer
/** As root, at the first web process, past the proxy. */
let one: Client
let video: UploadedVideo
let bytes: Buffer

beforeAll(async () => {
  ;[database, peer, bytes] = await Promise.all([freshDatabase(), startFakePeer(), makeVideo(1)])
  cluster = await makeCluster({
    databaseUrl: database.url,
    roles: { 'web 1': ['web'], 'web 2': ['web'], media: ['media'], federation: ['federation'] },
  })
  const [first, second] = [cluster.member('web 1'), cluster.member('web 2')]
  await Promise.all([first.start(), second.start()])
  one = await login(first.base, USERNAME, PASSWORD)
})

afterAll(async () => {
  await cluster?.close()
  await peer?.close()
  await database?.drop()
})

const query = async <Row extends object>(text: string, values?: unknown[]): Promise<Row[]> => await ask<Row>(cluster.place, text, values)

/** A request to the second process with a token of the first. */
const atOther = (path: string, init: RequestInit = {}) =>
  fetch(`${cluster.member('web 2').base}${path}`, {
    ...init,
    headers: { authorization: one.authorization, ...Object.fromEntries(new Headers(init.headers)) },
  })

const typesOf = async (states: string[]): Promise<string[]> =>
  (await query<{ type: string }>('select distinct type from job where state = any($1) order by type', [states])).map(({ type }) => type)

describe('two web processes without workers', () => {
  it('accept an upload in turn, and a follow', async () => {
    let turn = 0
    const inTurn: Client = {
      ...one,
      raw: (path, init) => (turn++ % 2 === 0 ? one.raw(path, init) : atOther(path, init)),
    }
    const fields = { channelId: await channelOf(one), name: 'In turn', filename: 'video.mp4', privacy: PRIVATE }
    const upload = { client: inTurn, bytes, chunkSize: Math.ceil(bytes.length / 4), fields }
    video = await persistentUpload(upload).proceed()
    await one.send('POST', '/api/v1/server/following', { hosts: [peer.host] })
    await until(async () => (await query('select 1 from outbox')).length === 0, { what: 'the end of the events' })
  })

  it('share sessions, until they end', async () => {
    expect(await ok<{ username: string }>(await atOther('/api/v1/users/me'))).toMatchObject({ username: USERNAME })
    const guest = await login(cluster.member('web 2').base, USERNAME, PASSWORD)
    await ok(await fetch(`${one.base}/api/v1/users/me`, { headers: { authorization: guest.authorization } }))
    const revoke = { method: 'POST', headers: { authorization: guest.authorization } }
    await ok(await fetch(`${one.base}/api/v1/users/revoke-token`, revoke))
    expect((await atOther('/api/v1/users/me', { headers: revoke.headers })).status).toBe(401)
  })

  it('share a two-factor login', async () => {
    const me = await one.get<{ id: number }>('/api/v1/users/me')
    const requested = await one.send<{ otpRequest: { requestToken: string; secret: string } }>(
      ...(['POST', `/api/v1/users/${me.id}/two-factor/request`, { currentPassword: PASSWORD }] as const),
    )
    const { requestToken, secret } = requested.otpRequest
    const confirmed = await atOther(`/api/v1/users/${me.id}/two-factor/confirm-request`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ requestToken, otpToken: await generate({ secret }) }),
    })
    expect(confirmed.status).toBe(204)
    await expect(login(one.base, USERNAME, PASSWORD)).rejects.toThrow('401')
    await one.send('POST', `/api/v1/users/${me.id}/two-factor/disable`, { currentPassword: PASSWORD })
    await login(cluster.member('web 2').base, USERNAME, PASSWORD)
  })

  it('share a changed configuration, and serve the same ActivityPub documents', async () => {
    const custom = await one.get<{ instance: object }>('/api/v1/config/custom')
    await one.send('PUT', '/api/v1/config/custom', { ...custom, instance: { ...custom.instance, name: 'Scaled' } })
    await until(async () => (await ok<{ instance: { name: string } }>(await atOther('/api/v1/config'))).instance.name === 'Scaled', {
      what: 'the name at the other process',
    })
    const paths = ['/accounts/root', `/.well-known/webfinger?resource=acct:root@${new URL(cluster.base).host}`]
    for (const path of paths) {
      const accept = { headers: { accept: 'application/activity+json' } }
      const [here, there] = await Promise.all([one.raw(path, accept), atOther(path, accept)])
      expect([here.status, there.status]).toEqual([200, 200])
      expect(await here.text()).toBe(await there.text())
    }
  })

  it('have done none of the work meanwhile', async () => {
    expect(await typesOf(['active', 'completed', 'failed'])).toEqual([])
    expect(await typesOf(['waiting', 'delayed'])).toEqual(expect.arrayContaining(['video-transcoding']))
    expect(await query('select 1 from lane where lease_owner is not null')).toEqual([])
    expect(peer.received).toEqual([])
  })
})

describe('a media process', () => {
  it('does the media work alone, and does not listen', async () => {
    const media = cluster.member('media')
    await media.start()
    await explained(cluster, cluster.place, () =>
      until(async () => (await ladderOf(one, video.uuid))?.length === 3, { what: 'the ladder' }),
    )
    expect((await typesOf(['completed'])).filter((type) => !MEDIA_JOBS.includes(type))).toEqual([])
    expect(peer.received).toEqual([])
    expect(listenersOf(media.child?.pid ?? 0)).toEqual([])
    expect(listenersOf(cluster.member('web 1').child?.pid ?? 0)).toHaveLength(1)
  })
})

it('a file token of one process is valid at the other', async () => {
  const { streamingPlaylists } = await one.get<{ streamingPlaylists: { files: { fileUrl: string }[] }[] }>(`/api/v1/videos/${video.uuid}`)
  const { files } = await one.send<{ files: { token: string } }>('POST', `/api/v1/videos/${video.uuid}/token`)
  const { pathname } = new URL(streamingPlaylists[0]?.files[0]?.fileUrl ?? '')
  const address = `${cluster.member('web 2').base}${pathname}`
  expect((await fetch(`${address}?videoFileToken=${files.token}`)).status).toBe(200)
  expect((await fetch(address)).status).toBe(403)
})

describe('a federation process', () => {
  it('delivers to other servers, does the remaining work, and does not listen', async () => {
    const federation = cluster.member('federation')
    await federation.start()
    await peer.awaited('the Follow', ({ activity }) => activity.type === 'Follow')
    await explained(cluster, cluster.place, () => untilSettled(cluster.place))
    expect(listenersOf(federation.child?.pid ?? 0)).toEqual([])
  })
})

/** Inodes of the TCP sockets on which a process listens. */
function listenersOf(pid: number): string[] {
  const LISTEN = '0A'
  const listening = ['tcp', 'tcp6'].flatMap((family) =>
    readFileSync(`/proc/${pid}/net/${family}`, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .flatMap((fields) => (fields[3] === LISTEN ? [`socket:[${fields[9]}]`] : [])),
  )
  return readdirSync(`/proc/${pid}/fd`)
    .map((fd) => linkOf(`/proc/${pid}/fd/${fd}`))
    .filter((target) => listening.includes(target))
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // It was closed meanwhile.
    return ''
  }
}
