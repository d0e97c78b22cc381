// Requests of other servers, which have no sessions: tokens are ignored.

import { importPrivateKey, signOutgoing } from '../../../../src/federation/security/index.ts'
import { newUuid } from '../../../../src/platform/ids.ts'
import { makeRemoteChannel, makeVideo } from '../../../support/builders.ts'
import { peerKeys } from '../../../support/fast-crypto.ts'
import type { RouteFixtures } from '../fixtures.ts'
import { everybody, row } from '../row.ts'

const PRIVATE = 3
const headers = { accept: 'application/activity+json' }

const account =
  (more = {}) =>
  (fixtures: RouteFixtures) => ({ headers, params: { name: fixtures.users.user.username, ...more } })
const channel =
  (more = {}) =>
  (fixtures: RouteFixtures) => ({
    headers,
    params: { name: `${fixtures.users.user.username}_channel`, ...more },
  })
const video =
  (columns: Record<string, unknown>, more = {}) =>
  async (fixtures: RouteFixtures) => ({ headers, params: { id: (await fixtures.video(columns)).uuid, ...more } })

const playlist = (columns: Record<string, unknown>) => async (fixtures: RouteFixtures) => ({
  headers,
  params: { id: (await fixtures.playlist(columns)).uuid },
})
const playlistElement = (columns: Record<string, unknown>) => async (fixtures: RouteFixtures) => {
  const { uuid, elementId } = await fixtures.playlist(columns)
  return { headers, params: { id: uuid, '*': `videos/${elementId}` } }
}
/** A WatchAction. */
const watched =
  (columns: Record<string, unknown>, more = {}) =>
  async (fixtures: RouteFixtures) => {
    const { id } = await fixtures.video(columns)
    const uuid = newUuid()
    await fixtures.db.query(
      `insert into watch (uuid, video_id, url, started_at, ended_at, seconds, sections)
       values ($1, $2, $3, now(), now(), 2, '[[0, 2]]')`,
      [uuid, id, `${fixtures.base}/videos/local-viewer/${uuid}`],
    )
    return { headers, params: { uuid, ...more } }
  }

/** An activity of an unknown actor; its signature is checked later. */
const signed =
  (inbox: (fixtures: RouteFixtures) => { path: string; params: Record<string, string> }) => async (fixtures: RouteFixtures) => {
    const { path, params } = inbox(fixtures)
    const actor = `https://${newUuid()}.example/accounts/somebody`
    const activity = {
      '@context': 'https://www.w3.org/ns/activitystreams',
      id: `${actor}/1`,
      type: 'Like',
      actor,
      object: `${fixtures.base}/videos/watch/${newUuid()}`,
    }
    const body = Buffer.from(JSON.stringify(activity))
    const { rsa } = await peerKeys()
    const signature = await signOutgoing({
      method: 'POST',
      url: `${fixtures.base}${path}`,
      body,
      profile: 'cavage',
      now: new Date(),
      headers: { 'content-type': 'application/activity+json' },
      key: { keyId: `${actor}#main-key`, privateKey: await importPrivateKey(rsa.privatePem) },
    })
    return { params, headers: signature, body }
  }

const unsigned = (params: (fixtures: RouteFixtures) => Record<string, string>) => (fixtures: RouteFixtures) => ({
  params: params(fixtures),
  headers: { 'content-type': 'application/activity+json' },
  body: Buffer.from(JSON.stringify({ type: 'Like', id: 'https://a.example/1', actor: 'https://a.example/b' })),
})

const named =
  (folder: string, suffix = '') =>
  (fixtures: RouteFixtures) => {
    const name = `${fixtures.users.user.username}${suffix}`
    return { path: `/${folder}/${name}/inbox`, params: { name } }
  }

/** A remote video with copies of its playlist and web video on this server. */
async function mirrored({ db, base }: RouteFixtures): Promise<{ uuid: string }> {
  const { channelId, host } = await makeRemoteChannel(db, { host: `${newUuid()}.example` })
  const remoteOrigin = `https://${host}`
  const { id, uuid } = await makeVideo(db, {
    channelId,
    remoteOrigin,
    hls: { resolution: 240, playlistUrl: `${remoteOrigin}/master.m3u8` },
    webVideo: { resolution: 240, fileUrl: `${remoteOrigin}/240.mp4` },
  })
  await db.query(
    `insert into redundancy (actor_id, video_id, streaming_playlist_id, file_id, url, file_url, path, strategy, state)
     select a.id, $1, c.playlist_id, c.file_id, c.url, $2 || c.path, c.path, 'manual', 'announced' from actor a, (
       select id as playlist_id, null::int as file_id, $2 || '/redundancy/streaming-playlists/hls/' || $3 as url, 'hls/' || $3 as path
       from streaming_playlist where video_id = $1
       union all select null, id, $2 || '/redundancy/videos/' || $3 || '/240', $3 || '-240.mp4'
       from video_file where video_id = $1 and streaming_playlist_id is null) c
     where a.type = 'Application' and a.host_id is null`,
    [id, base, uuid],
  )
  return { uuid }
}

export const activityPubRows = [
  row('GET /.well-known/webfinger', everybody(200), (fixtures) => ({
    query: { resource: `acct:${fixtures.users.user.username}@${new URL(fixtures.base).host}` },
  })),
  row('GET /.well-known/nodeinfo', everybody(200)),
  row('GET /.well-known/host-meta', everybody(200)),
  row('GET /nodeinfo/:version', everybody(200), () => ({ params: { version: '2.0.json' } })),

  row('GET /accounts/:name (ActivityPub)', everybody(200), account()),
  row('GET /accounts/:name/* (ActivityPub)', everybody(200), account({ '*': 'followers' })),
  row('GET /video-channels/:name (ActivityPub)', everybody(200), channel()),
  row('GET /video-channels/:name/* (ActivityPub)', everybody(200), channel({ '*': 'followers' })),
  ...['videos', 'video-channels', 'video-playlists', 'about'].flatMap((tab) => [
    row(`GET /accounts/:name/${tab} (ActivityPub)`, everybody(200), account()),
    row(`GET /a/:name/${tab} (ActivityPub)`, everybody(200), account()),
    row(`GET /@:name/${tab} (ActivityPub)`, everybody(302), account()),
    row(`GET /video-channels/:name/${tab} (ActivityPub)`, everybody(200), channel()),
    row(`GET /c/:name/${tab} (ActivityPub)`, everybody(200), channel()),
  ]),
  row('GET /a/:name/* (ActivityPub)', everybody(200), account({ '*': 'followers' })),
  row('GET /@:name/* (ActivityPub)', everybody(404), account({ '*': 'followers' })),
  row('GET /c/:name/* (ActivityPub)', everybody(200), channel({ '*': 'followers' })),
  row('GET /a/:name (ActivityPub)', everybody(200), account()),
  row('GET /@:name (ActivityPub)', everybody(302), account()),
  row('GET /c/:name (ActivityPub)', everybody(200), channel()),
  row('GET /videos/watch/:id (ActivityPub)', everybody(200), video({}), 'public'),
  row('GET /videos/watch/:id (ActivityPub)', everybody(401), video({ privacy: PRIVATE }), 'private'),
  row('GET /videos/watch/:id/* (ActivityPub)', everybody(200), video({}, { '*': 'likes' }), 'public'),
  row('GET /videos/watch/:id/* (ActivityPub)', everybody(401), video({ privacy: PRIVATE }, { '*': 'likes' }), 'private'),
  row('GET /videos/local-viewer/:uuid (ActivityPub)', everybody(200), watched({}), 'of a public video'),
  row('GET /videos/local-viewer/:uuid (ActivityPub)', everybody(401), watched({ privacy: PRIVATE }), 'of a private video'),
  row('GET /videos/local-viewer/:uuid/* (ActivityPub)', everybody(200), watched({}, { '*': 'activity' })),
  row('GET /redundancy/streaming-playlists/:type/:id (ActivityPub)', everybody(200), async (fixtures) => ({
    headers,
    params: { type: 'hls', id: (await mirrored(fixtures)).uuid },
  })),
  row('GET /redundancy/streaming-playlists/:type/:id/* (ActivityPub)', everybody(200), async (fixtures) => ({
    headers,
    params: { type: 'hls', id: (await mirrored(fixtures)).uuid, '*': 'activity' },
  })),
  row('GET /redundancy/videos/:id/:file (ActivityPub)', everybody(200), async (fixtures) => ({
    headers,
    params: { id: (await mirrored(fixtures)).uuid, file: '240' },
  })),
  row('GET /redundancy/videos/:id/:file/* (ActivityPub)', everybody(200), async (fixtures) => ({
    headers,
    params: { id: (await mirrored(fixtures)).uuid, file: '240', '*': 'activity' },
  })),
  row('GET /w/:id (ActivityPub)', everybody(200), video({}), 'public'),
  row('GET /w/:id (ActivityPub)', everybody(401), video({ privacy: PRIVATE }), 'private'),

  row('GET /video-playlists/:id (ActivityPub)', everybody(200), playlist({}), 'public'),
  row('GET /video-playlists/:id (ActivityPub)', everybody(401), playlist({ privacy: PRIVATE }), 'private'),
  row('GET /video-playlists/:id/* (ActivityPub)', everybody(200), playlistElement({}), 'public'),
  row('GET /video-playlists/:id/* (ActivityPub)', everybody(401), playlistElement({ privacy: PRIVATE }), 'private'),
  row('GET /w/p/:id (ActivityPub)', everybody(200), playlist({}), 'public'),
  row('GET /w/p/:id (ActivityPub)', everybody(401), playlist({ privacy: PRIVATE }), 'private'),
  row('GET /videos/watch/playlist/:id (ActivityPub)', everybody(200), playlist({}), 'public'),
  row('GET /videos/watch/playlist/:id (ActivityPub)', everybody(401), playlist({ privacy: PRIVATE }), 'private'),

  row(
    'POST /inbox',
    everybody(204),
    signed(() => ({ path: '/inbox', params: {} })),
    'signed',
  ),
  row(
    'POST /inbox',
    everybody(401),
    unsigned(() => ({})),
    'unsigned',
  ),
  row('POST /accounts/:name/inbox', everybody(204), signed(named('accounts')), 'signed'),
  row(
    'POST /accounts/:name/inbox',
    everybody(401),
    unsigned((fixtures) => named('accounts')(fixtures).params),
    'unsigned',
  ),
  row('POST /video-channels/:name/inbox', everybody(204), signed(named('video-channels', '_channel')), 'signed'),
  row(
    'POST /video-channels/:name/inbox',
    everybody(401),
    unsigned((fixtures) => named('video-channels', '_channel')(fixtures).params),
    'unsigned',
  ),
]
