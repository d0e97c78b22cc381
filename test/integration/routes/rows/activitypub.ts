// What other servers read and post. They have no sessions: tokens mean nothing here.

import { importPrivateKey, signOutgoing } from '../../../../src/federation/security/index.ts'
import { newUuid } from '../../../../src/platform/ids.ts'
import { makeRemoteChannel, makeVideo } from '../../../support/builders.ts'
import { peerKeys } from '../../../support/fake-peer.ts'
import type { Cast } from '../cast.ts'
import { everybody, row } from '../row.ts'

const PRIVATE = 3
const headers = { accept: 'application/activity+json' }

const account =
  (more = {}) =>
  (cast: Cast) => ({ headers, params: { name: cast.users.user.username, ...more } })
const channel =
  (more = {}) =>
  (cast: Cast) => ({
    headers,
    params: { name: `${cast.users.user.username}_channel`, ...more },
  })
const video =
  (columns: Record<string, unknown>, more = {}) =>
  async (cast: Cast) => ({ headers, params: { id: (await cast.video(columns)).uuid, ...more } })

/** An activity of somebody unheard of; its signature is looked at later. */
const signed = (inbox: (cast: Cast) => { path: string; params: Record<string, string> }) => async (cast: Cast) => {
  const { path, params } = inbox(cast)
  const actor = `https://${newUuid()}.example/accounts/somebody`
  const activity = {
    '@context': 'https://www.w3.org/ns/activitystreams',
    id: `${actor}/1`,
    type: 'Like',
    actor,
    object: `${cast.base}/videos/watch/${newUuid()}`,
  }
  const body = Buffer.from(JSON.stringify(activity))
  const { rsa } = await peerKeys()
  const signature = await signOutgoing({
    ...{ method: 'POST', url: `${cast.base}${path}`, body, profile: 'cavage', now: new Date() },
    headers: { 'content-type': 'application/activity+json' },
    key: { keyId: `${actor}#main-key`, privateKey: await importPrivateKey(rsa.privatePem) },
  })
  return { params, headers: signature, body }
}

const unsigned = (params: (cast: Cast) => Record<string, string>) => (cast: Cast) => ({
  params: params(cast),
  headers: { 'content-type': 'application/activity+json' },
  body: Buffer.from(JSON.stringify({ type: 'Like', id: 'https://a.example/1', actor: 'https://a.example/b' })),
})

const named =
  (folder: string, suffix = '') =>
  (cast: Cast) => {
    const name = `${cast.users.user.username}${suffix}`
    return { path: `/${folder}/${name}/inbox`, params: { name } }
  }

/** The UUID of a video of another server, of which there is a copy here. */
async function mirrored({ db, base }: Cast): Promise<string> {
  const { channelId, host } = await makeRemoteChannel(db, { host: `${newUuid()}.example` })
  const remoteOrigin = `https://${host}`
  const hls = { resolution: 240, playlistUrl: `${remoteOrigin}/master.m3u8` }
  const { id, uuid } = await makeVideo(db, { channelId, remoteOrigin, hls })
  await db.query(
    `insert into redundancy (actor_id, video_id, streaming_playlist_id, url, file_url, path, strategy, state)
     select a.id, $1, p.id, $2, $3, $4, 'manual', 'announced' from actor a, streaming_playlist p
     where a.type = 'Application' and a.host_id is null and p.video_id = $1`,
    [id, `${base}/redundancy/streaming-playlists/hls/${uuid}`, `${base}/static/redundancy/hls/${uuid}`, `hls/${uuid}`],
  )
  return uuid
}

export const activityPubRows = [
  row('GET /.well-known/webfinger', everybody(200), (cast) => ({
    query: { resource: `acct:${cast.users.user.username}@${new URL(cast.base).host}` },
  })),
  row('GET /.well-known/nodeinfo', everybody(200)),
  row('GET /.well-known/host-meta', everybody(200)),
  row('GET /nodeinfo/:version', everybody(200), () => ({ params: { version: '2.0.json' } })),

  row('GET /accounts/:name (ActivityPub)', everybody(200), account()),
  row('GET /accounts/:name/* (ActivityPub)', everybody(200), account({ '*': 'followers' })),
  row('GET /video-channels/:name (ActivityPub)', everybody(200), channel()),
  row('GET /video-channels/:name/* (ActivityPub)', everybody(200), channel({ '*': 'followers' })),
  row('GET /a/:name (ActivityPub)', everybody(200), account()),
  row('GET /c/:name (ActivityPub)', everybody(200), channel()),
  row('GET /videos/watch/:id (ActivityPub)', everybody(200), video({}), 'public'),
  row('GET /videos/watch/:id (ActivityPub)', everybody(401), video({ privacy: PRIVATE }), 'private'),
  row('GET /videos/watch/:id/* (ActivityPub)', everybody(200), video({}, { '*': 'likes' }), 'public'),
  row(
    'GET /videos/watch/:id/* (ActivityPub)',
    everybody(401),
    video({ privacy: PRIVATE }, { '*': 'likes' }),
    'private',
  ),
  row('GET /redundancy/* (ActivityPub)', everybody(200), async (cast) => ({
    params: { '*': `streaming-playlists/hls/${await mirrored(cast)}` },
  })),
  row('GET /w/:id (ActivityPub)', everybody(200), video({}), 'public'),
  row('GET /w/:id (ActivityPub)', everybody(401), video({ privacy: PRIVATE }), 'private'),

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
    unsigned((cast) => named('accounts')(cast).params),
    'unsigned',
  ),
  row('POST /video-channels/:name/inbox', everybody(204), signed(named('video-channels', '_channel')), 'signed'),
  row(
    'POST /video-channels/:name/inbox',
    everybody(401),
    unsigned((cast) => named('video-channels', '_channel')(cast).params),
    'unsigned',
  ),
]
