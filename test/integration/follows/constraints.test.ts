// Access of visitors and users to objects of servers that the instance does not follow.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { newUuid } from '../../../src/platform/ids.ts'
import { insert, makeRemoteChannel, makeVideo } from '../../support/builders.ts'
import { makeRouteFixtures, type RouteFixtures } from '../routes/fixtures.ts'
import { type RouteServer, startRouteServer } from '../routes/server.ts'

let stage: RouteServer
let fixtures: RouteFixtures

interface Theirs {
  host: string
  accountId: number
  channelId: number
  account: string
  channel: string
  accountUrl: string
  channelUrl: string
  uuid: string
  url: string
  threadId: number
  playlist: string
  playlistUrl: string
}

let strange: Theirs
let followed: Theirs

beforeAll(async () => {
  stage = await startRouteServer()
  fixtures = await makeRouteFixtures(stage)
  strange = await foreign()
  followed = await foreign()
  await follow(followed)
})
afterAll(() => stage?.stop())

async function foreign(): Promise<Theirs> {
  const { db } = fixtures
  const { host, accountId, channelId } = await makeRemoteChannel(db)
  const origin = `https://${host}`
  const [names] = await db.query<{ account: string; channel: string; accountUrl: string; channelUrl: string }>(
    `select x.preferred_username as account, cx.preferred_username as channel, x.url as "accountUrl", cx.url as "channelUrl"
     from account a join actor x on x.id = a.actor_id join channel c on c.account_id = a.id join actor cx on cx.id = c.actor_id
     where a.id = $1`,
    [accountId],
  )
  if (!names) throw new Error('There is no account.')
  const { id, uuid, url } = await makeVideo(db, {
    channelId,
    remoteOrigin: origin,
    columns: { listed: false, name: `A film of ${host}`, description: 'words' },
  })
  const comment = { video_id: id, account_id: accountId, url: `${origin}/comments/${newUuid()}`, text: 'words' }
  const playlist = newUuid()
  const playlistUrl = `${origin}/video-playlists/${playlist}`
  await insert(db, 'playlist', {
    uuid: playlist,
    url: playlistUrl,
    name: 'Theirs',
    privacy: 1,
    type: 1,
    remote: true,
    account_id: accountId,
    channel_id: channelId,
    refreshed_at: new Date(),
  })
  return {
    host,
    accountId,
    channelId,
    accountUrl: names.accountUrl,
    channelUrl: names.channelUrl,
    account: `${names.account}@${host}`,
    channel: `${names.channel}@${host}`,
    uuid,
    url,
    playlist,
    playlistUrl,
    threadId: await insert(db, 'comment', comment),
  }
}

/** As the instance does; the list follows at once, like by its job. */
async function follow({ channelId }: Theirs): Promise<void> {
  await fixtures.db.query(
    `insert into follow (follower_id, target_id, state, url)
     select us.id, c.actor_id, 'accepted', us.url || '/follows/' || c.actor_id
     from actor us, channel c where us.type = 'Application' and us.host_id is null and c.id = $1`,
    [channelId],
  )
  await fixtures.db.query('update video set listed = true where channel_id = $1', [channelId])
}

async function unfollow({ channelId }: Theirs): Promise<void> {
  await fixtures.db.query('delete from follow where target_id = (select actor_id from channel where id = $1)', [channelId])
  await fixtures.db.query('update video set listed = false where channel_id = $1', [channelId])
  // The job notifies all processes; so does every write.
  await allowing({ users: true, anonymous: false }, async () => undefined)
}

/** Each with its URL at its own server, which the refusal contains. */
const places: [string, (of: Theirs) => string, (of: Theirs) => string][] = [
  ['video', ({ uuid }) => `/api/v1/videos/${uuid}`, ({ url }) => url],
  ['description', ({ uuid }) => `/api/v1/videos/${uuid}/description`, ({ url }) => url],
  ['threads', ({ uuid }) => `/api/v1/videos/${uuid}/comment-threads`, ({ url }) => url],
  ['thread', ({ uuid, threadId }) => `/api/v1/videos/${uuid}/comment-threads/${threadId}`, ({ url }) => url],
  ['captions', ({ uuid }) => `/api/v1/videos/${uuid}/captions`, ({ url }) => url],
  ['chapters', ({ uuid }) => `/api/v1/videos/${uuid}/chapters`, ({ url }) => url],
  ['storyboards', ({ uuid }) => `/api/v1/videos/${uuid}/storyboards`, ({ url }) => url],
  ['feed of comments', ({ uuid }) => `/feeds/video-comments.xml?videoId=${uuid}`, ({ url }) => url],
  ['account’s videos', ({ account }) => `/api/v1/accounts/${account}/videos`, ({ accountUrl }) => accountUrl],
  ['channel’s videos', ({ channel }) => `/api/v1/video-channels/${channel}/videos`, ({ channelUrl }) => channelUrl],
  ['account’s playlists', ({ account }) => `/api/v1/accounts/${account}/video-playlists`, ({ accountUrl }) => accountUrl],
  ['channel’s playlists', ({ channel }) => `/api/v1/video-channels/${channel}/video-playlists`, ({ channelUrl }) => channelUrl],
  ['account’s feed', ({ accountId }) => `/feeds/videos.xml?accountId=${accountId}`, ({ accountUrl }) => accountUrl],
  ['channel’s feed', ({ channelId }) => `/feeds/videos.json?videoChannelId=${channelId}`, ({ channelUrl }) => channelUrl],
  ['playlist', ({ playlist }) => `/api/v1/video-playlists/${playlist}`, ({ playlistUrl }) => playlistUrl],
  ['playlist’s videos', ({ playlist }) => `/api/v1/video-playlists/${playlist}/videos`, ({ playlistUrl }) => playlistUrl],
]
const isForUsers = (path: string): boolean => path.startsWith('/api/')

const get = (caller: 'anonymous' | 'user', path: string): Promise<Response> => fixtures.send(caller, path, {})

/** Value of `search.remote_uri` while the work runs. */
async function allowing(remoteUri: { users: boolean; anonymous: boolean }, work: () => Promise<void>): Promise<void> {
  const change = async (changes: typeof remoteUri) => {
    const config = (await (await fixtures.send('admin', '/api/v1/config/custom', {})).json()) as { search: object }
    const body = JSON.stringify({ ...config, search: { ...config.search, remoteUri: changes } })
    const headers = { 'content-type': 'application/json' }
    expect((await fixtures.send('admin', '/api/v1/config/custom', { method: 'PUT', headers, body })).status).toBe(200)
  }
  await change(remoteUri)
  try {
    await work()
  } finally {
    await change({ users: true, anonymous: false })
  }
}

describe('of an unfollowed server, the', () => {
  it.each(places)('%s is refused to visitors with its original URL, and shown to users', async (_name, pathOf, originOf) => {
    const path = pathOf(strange)
    const answer = await get('anonymous', path)
    expect([answer.status, await answer.json()]).toEqual([
      403,
      expect.objectContaining({
        type: expect.stringMatching(/#section\/Errors\/does_not_respect_follow_constraints$/),
        code: 'does_not_respect_follow_constraints',
        originUrl: originOf(strange),
        status: 403,
      }),
    ])
    if (isForUsers(path)) expect((await get('user', path)).status).toBe(200)
  })

  it('video can be rated and viewed only by those who may see it', async () => {
    const view = (caller: 'anonymous' | 'user') =>
      fixtures.send(caller, `/api/v1/videos/${strange.uuid}/views`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ currentTime: 1 }),
      })
    expect([(await view('anonymous')).status, (await view('user')).status]).toEqual([403, 204])
  })

  it('video has no page, no embed and no card', async () => {
    for (const path of [`/w/${strange.uuid}`, `/videos/embed/${strange.uuid}`]) {
      const answer = await get('anonymous', path)
      expect([path, answer.status]).toEqual([path, 404])
      expect(await answer.text()).not.toContain(strange.host)
    }
    const card = await get('anonymous', `/services/oembed?url=${encodeURIComponent(`${stage.base}/w/${strange.uuid}`)}`)
    expect(card.status).toBe(403)
  })

  it.each(places)('%s is shown to visitors who may request remote URIs', async (_name, pathOf) => {
    await allowing({ users: true, anonymous: true }, async () => {
      expect((await get('anonymous', pathOf(strange))).status).toBe(200)
    })
  })

  it.each(places.filter(([, pathOf]) => pathOf({} as Theirs).startsWith('/api/')))(
    '%s is refused to users who may not',
    async (_name, pathOf) => {
      await allowing({ users: false, anonymous: false }, async () => {
        expect((await get('user', pathOf(strange))).status).toBe(403)
      })
    },
  )
})

describe('of a followed server, the', () => {
  it.each(places)('%s is shown to everybody', async (_name, pathOf) => {
    expect((await get('anonymous', pathOf(followed))).status).toBe(200)
  })

  it('video and the lists agree after the end of the follow', async () => {
    const once = await foreign()
    await follow(once)
    const statuses = async () => {
      const paths = places.map(([, pathOf]) => pathOf(once))
      return new Set(await Promise.all(paths.map(async (path) => (await get('anonymous', path)).status)))
    }
    expect(await statuses()).toEqual(new Set([200]))
    await unfollow(once)
    expect(await statuses()).toEqual(new Set([403]))
    const list = (await (await get('anonymous', '/api/v1/videos?count=100')).json()) as { data: { uuid: string }[] }
    expect(list.data.map(({ uuid }) => uuid)).not.toContain(once.uuid)
    const account = (await (await get('user', `/api/v1/accounts/${once.account}/videos`)).json()) as { total: number }
    expect(account.total).toBe(1)
  })
})
