// Effects of blocks, for each place where the blocked object could be visible and each viewer: a table for a video blocked by the
// instance, and one for an account or server muted by the instance or by a user. The total of a list equals its items.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { newUuid } from '../../../src/platform/ids.ts'
import { type FederatedNode, newcomer, startFederatedNode, uploadBy } from '../../federation/support.ts'
import { insert, type MadeVideo, makeRemoteChannel, makeVideo } from '../../support/builders.ts'
import { media } from '../../support/media.ts'
import { until } from '../../support/until.ts'
import { AP, json, makeVisibility, type Page, type VisibilityOf } from './visibility.ts'

/** Who looks, in the order of the words of a cell; one word is for all of them. `owner`: of the video, or of what was written below it. */
const WHO = ['visitor', 'other', 'muter', 'owner', 'moderator', 'admin'] as const
type Who = (typeof WHO)[number]

let node: FederatedNode
let bytes: Buffer
const clients = new Map<Who, Client>()

const { ask, asClient, inList, inText, status, seen } = makeVisibility({ base: () => node.base, clients, all: WHO })
type Look<Subject> = VisibilityOf<Who, Subject>

const ALL = 'shown'
const NOBODY = 'hidden'
const SIGNED_IN = '401 shown shown shown shown shown'
const NO_USER = '401 hidden hidden hidden hidden hidden'
const STAFF = '401 403 403 403 shown shown'
/** Only they may ask for that. */
const ASKED_BY_STAFF = '401 401 401 401 shown shown'

beforeAll(async () => {
  bytes = await readFile(await media('small.mp4'))
  node = await startFederatedNode()
  clients.set('admin', node.client)
  clients.set('moderator', await newcomer(node, 'moderator', { role: 1 }))
  for (const name of ['other', 'muter', 'owner'] as const) clients.set(name, await newcomer(node, name))
  // The overview needs enough videos, and is cached.
  const { channelId } = await accountOf('owner')
  for (const place of [1, 2, 3, 4, 5, 6]) {
    await makeVideo(node, { channelId, columns: { name: `another ${place}`, category: 1 }, bare: true })
  }
})
afterAll(() => node?.stop())

const accountOf = async (name: string): Promise<{ id: number; actorId: number; channelId: number; channelActorId: number }> => {
  const [found] = await node.query<{ id: number; actorId: number; channelId: number; channelActorId: number }>(
    `select a.id, x.id as "actorId", c.id as "channelId", c.actor_id as "channelActorId"
     from actor x left join account a on x.id = a.actor_id left join channel c on c.account_id = a.id
     where x.preferred_username = $1 and x.type <> 'Group' order by c.id limit 1`,
    [name],
  )
  if (!found) throw new Error(`There is no ${name}.`)
  return found
}

/** The viewers, by name. */
const USERS = ['other', 'muter', 'owner', 'moderator', 'root']

async function follow(followerActorId: number, targetActorId: number): Promise<void> {
  await node.query(
    `insert into follow (follower_id, target_id, state, url) values ($1::int, $2::int, 'accepted', 'https://x.example/' || $1 || '/' || $2)
     on conflict (follower_id, target_id) do update set state = 'accepted'`,
    [followerActorId, targetActorId],
  )
}

async function addPlaylist(by: { id: number; channelId: number }, name: string, videoId: number, origin?: string): Promise<string> {
  const uuid = newUuid()
  const id = await insert(node, 'playlist', {
    uuid,
    account_id: by.id,
    channel_id: by.channelId,
    name,
    type: 1,
    privacy: 1,
    remote: origin !== undefined,
    url: `${origin ?? node.base}/video-playlists/${uuid}`,
    elements_count: 1,
    refreshed_at: new Date(),
  })
  await insert(node, 'playlist_element', { playlist_id: id, video_id: videoId, position: 1 })
  return uuid
}

async function addComment(
  by: number,
  videoId: number,
  text: string,
  options: { thread?: number; origin?: string | undefined } = {},
): Promise<number> {
  const { thread, origin = node.base } = options
  return await insert(node, 'comment', {
    video_id: videoId,
    account_id: by,
    text,
    url: `${origin}/comments/${newUuid()}`,
    ...(thread === undefined ? {} : { thread_id: thread, parent_id: thread }),
  })
}

async function watched(videoId: number): Promise<void> {
  for (const name of USERS) {
    await node.query('insert into history (account_id, video_id, seconds, watched_at) values ($1, $2, 3, now()) on conflict do nothing', [
      (await accountOf(name)).id,
      videoId,
    ])
  }
}

/** Waits until the effects of a block are complete. */
const settled = () =>
  until(
    async () =>
      (
        await node.query(
          "select 1 from outbox union all select 1 from job where state in ('waiting', 'active') and type = 'blocked-follows'",
        )
      ).length === 0,
    { what: 'the end of what follows' },
  )

describe('a muted account or server', () => {
  const HOST = 'loud.example'
  interface Subject {
    /** In all objects of the muted account. */
    name: string
    handle: string
    channel: string
    video: MadeVideo
    /** Of another account, with the video alone. */
    playlist: string
    /** Of another account, with one reply, by the muted account. */
    threadId: number
  }
  const FROM_MUTER = 'shown shown hidden shown shown shown'
  const NOT_MUTER = '401 shown hidden shown shown shown'
  const FROM_USERS = 'hidden hidden hidden hidden shown shown'
  const OWNER = '401 hidden hidden shown hidden hidden'
  const MUTER_AND_STAFF = '401 403 shown 403 shown shown'
  const NONE_OF_THEM = '401 403 hidden 403 hidden hidden'

  const name = (subject: Subject) => subject.name
  let commented: MadeVideo
  const threads = () => `/api/v1/videos/${commented.uuid}/comment-threads`

  /** Replies to the thread of another account. */
  const countedReply: Look<Subject> = async (who, { threadId }) => {
    const { data } = (await (await ask(who, threads())).json()) as { data: { id: number; totalReplies: number }[] }
    return data.find(({ id }) => id === threadId)?.totalReplies === 1 ? 'shown' : 'hidden'
  }
  /** Two of each, and two of others. */
  const countedAll: Look<Subject> = async (who) => {
    const { totalNotDeletedComments } = (await (await ask(who, threads())).json()) as {
      totalNotDeletedComments: number
    }
    return totalNotDeletedComments === 6 ? 'shown' : totalNotDeletedComments === 4 ? 'hidden' : 'wrong'
  }

  /** On the first pages, by its tag. */
  const inOverview: Look<Subject> = async (who, { name }) => {
    const pages = await Promise.all([1, 2].map((page) => ask(who, `/api/v1/overviews/videos?page=${page}`)))
    const texts = await Promise.all(pages.map((page) => page.text()))
    return texts.some((text) => text.includes(`${name} concert`)) ? 'shown' : 'hidden'
  }

  /** Comments on the owner's videos and pending comments stay visible to those who moderate them. */
  const places: [place: string, look: Look<Subject>, free: string, byInstance: string, byMuter: string][] = [
    ['all videos', inList(() => '/api/v1/videos', name), ALL, NOBODY, FROM_MUTER],
    [
      'all with those of the muted',
      inList(() => '/api/v1/videos?include=4', name),
      ...([ASKED_BY_STAFF, ASKED_BY_STAFF, ASKED_BY_STAFF] as const),
    ],
    ['found videos', inList(() => '/api/v1/search/videos?search=concert', name), ALL, NOBODY, FROM_MUTER],
    [
      'videos found by UUID',
      inList(({ video }) => `/api/v1/search/videos?uuids=${video.uuid}`, name),
      ...([ALL, NOBODY, FROM_MUTER] as const),
    ],
    [
      'a video found by its address',
      inList(({ video }) => `/api/v1/search/videos?search=${video.url}`, name),
      ...([ALL, NOBODY, FROM_MUTER] as const),
    ],
    ['the overview', inOverview, ALL, NOBODY, FROM_MUTER],
    ['videos of the account', inList(({ handle }) => `/api/v1/accounts/${handle}/videos`, name), ...([ALL, NOBODY, FROM_MUTER] as const)],
    [
      'videos of the channel',
      inList(({ channel }) => `/api/v1/video-channels/${channel}/videos`, name),
      ...([ALL, NOBODY, FROM_MUTER] as const),
    ],
    ['new of followed channels', inList(() => '/api/v1/users/me/subscriptions/videos', name), SIGNED_IN, NO_USER, NOT_MUTER],
    ['history', inList(() => '/api/v1/users/me/history/videos', name), SIGNED_IN, NO_USER, NOT_MUTER],
    [
      'a playlist of others',
      inList(({ playlist }) => `/api/v1/video-playlists/${playlist}/videos`, name),
      ...([ALL, NOBODY, FROM_MUTER] as const),
    ],
    ['all channels', inList(() => '/api/v1/video-channels', name), ALL, NOBODY, FROM_MUTER],
    ['found channels', inList(() => '/api/v1/search/video-channels?search=channel', name), ALL, NOBODY, FROM_MUTER],
    [
      'channels by handle',
      inList(({ channel }) => `/api/v1/search/video-channels?handles=${channel}`, name),
      ...([ALL, NOBODY, FROM_MUTER] as const),
    ],
    [
      'a channel found by its handle',
      inList(({ channel }) => `/api/v1/search/video-channels?search=${channel}`, name),
      ...([ALL, NOBODY, FROM_MUTER] as const),
    ],
    [
      'channels of the account',
      inList(({ handle }) => `/api/v1/accounts/${handle}/video-channels`, name),
      ...([ALL, FROM_USERS, FROM_MUTER] as const),
    ],
    ['all accounts', inList(() => '/api/v1/accounts', name), ALL, NOBODY, FROM_MUTER],
    ['all playlists', inList(() => '/api/v1/video-playlists', name), ALL, NOBODY, FROM_MUTER],
    ['found playlists', inList(() => '/api/v1/search/video-playlists?search=playlist', name), ALL, NOBODY, FROM_MUTER],
    [
      'playlists of the account',
      inList(({ handle }) => `/api/v1/accounts/${handle}/video-playlists`, name),
      ...([ALL, FROM_USERS, FROM_MUTER] as const),
    ],
    [
      'playlists of the channel',
      inList(({ channel }) => `/api/v1/video-channels/${channel}/video-playlists`, name),
      ...([ALL, FROM_USERS, FROM_MUTER] as const),
    ],
    ['threads', inList(threads, name), ALL, NOBODY, FROM_MUTER],
    ['replies', inText(({ threadId }) => `${threads()}/${threadId}`, name), ALL, NOBODY, FROM_MUTER],
    ['the count of replies', countedReply, ALL, NOBODY, FROM_MUTER],
    ['the count of comments', countedAll, ALL, NOBODY, FROM_MUTER],
    ['comments for the staff', inList(() => '/api/v1/videos/comments', name), STAFF, STAFF, STAFF],
    ['comments below own videos', inList(() => '/api/v1/users/me/videos/comments', name), OWNER, OWNER, OWNER],
    // A direct link still works, and shows that the account is muted.
    ['the account', status(({ handle }) => `/api/v1/accounts/${handle}`), ALL, ALL, ALL],
    ['the channel', status(({ channel }) => `/api/v1/video-channels/${channel}`), ALL, ALL, ALL],
    ['a video', status(({ video }) => `/api/v1/videos/${video.uuid}`), ALL, ALL, ALL],
    ['the page of a video', status(({ video }) => `/w/${video.uuid}`), ALL, ALL, ALL],
    [
      'the first page, which is the same for all',
      inText(
        () => '/',
        ({ name }) => `${name} concert`,
        { headers: { accept: 'text/html' } },
      ),
      ...([ALL, NOBODY, ALL] as const),
    ],
  ]

  /** Follows end with a block of a remote account or server; a user's block ends follows of the user's account and channels. */
  const follows: typeof places = [
    ['subscriptions', inList(() => '/api/v1/users/me/subscriptions', name), SIGNED_IN, NO_USER, SIGNED_IN],
    ['followers of the instance', inList(() => '/api/v1/server/followers', name), ALL, NOBODY, ALL],
    [
      "followers of the muter's channel",
      inList(() => '/api/v1/video-channels/muter_channel/followers', name),
      ...([MUTER_AND_STAFF, NONE_OF_THEM, NONE_OF_THEM] as const),
    ],
  ]

  const federated: typeof places = [
    [
      'comments',
      inText(
        () => `/videos/watch/${commented.uuid}/comments?page=1`,
        () => '"totalItems":6',
        AP,
      ),
      ...([ALL, NOBODY, ALL] as const),
    ],
  ]
  const read = (keyId: string) => ({ headers: { ...AP.headers, signature: `keyId="${keyId}",signature="AA=="` } })
  const readers: typeof places = [
    [
      'read by the muted',
      status(
        () => `/videos/watch/${commented.uuid}`,
        ({ name }) => read(`https://${HOST}/accounts/${name}#main-key`),
      ),
      ...([ALL, '403', ALL] as const),
    ],
    ['followers of the instance', inText(() => '/accounts/peertube/followers?page=1', name, AP), ...([ALL, NOBODY, ALL] as const)],
  ]

  const subjects = new Map<string, Subject>()
  const subject = (called: string): Subject => {
    const found = subjects.get(called)
    if (!found) throw new Error(`There is no ${called}.`)
    return found
  }

  async function addSubject(called: string, channelId: number, origin: string | undefined): Promise<void> {
    const [account, other] = [await accountOf(called), await accountOf('other')]
    const remote = origin === undefined ? {} : { remoteOrigin: origin }
    const videos: MadeVideo[] = []
    for (const place of [0, 1, 2, 3, 4, 5]) {
      const columns = { name: `${called} concert ${place}`, tags: [called] }
      videos.push(await makeVideo(node, { channelId, ...remote, columns, bare: true }))
    }
    const [video] = videos
    if (!video) throw new Error('There are no videos.')
    await watched(video.id)
    await addPlaylist({ ...account, channelId }, `${called} playlist`, video.id, origin)
    await addComment(account.id, commented.id, `${called} thread`, { origin })
    const thread = await addComment(other.id, commented.id, 'A thread')
    await addComment(account.id, commented.id, `${called} reply`, { thread, origin })
    const at = origin === undefined ? '' : `@${HOST}`
    subjects.set(called, {
      name: called,
      handle: `${called}${at}`,
      channel: `${called}_channel${at}`,
      video,
      threadId: thread,
      playlist: await addPlaylist(other, 'mixed', video.id),
    })
  }

  beforeAll(async () => {
    await newcomer(node, 'noisy')
    const { channelId } = await makeRemoteChannel(node, { host: HOST, username: 'loud' })
    commented = await makeVideo(node, {
      channelId: (await accountOf('owner')).channelId,
      columns: { name: 'commented' },
    })
    await addSubject('loud', channelId, `https://${HOST}`)
    await addSubject('noisy', (await accountOf('noisy')).channelId, undefined)
  })

  interface Kind {
    kind: string
    of: 'loud' | 'noisy'
    column: 2 | 3 | 4
    tables: (typeof places)[]
    by?: Who
    path?: string
    body?: object
  }
  const [instance, own] = ['/api/v1/server/blocklist', '/api/v1/users/me/blocklist']
  const [account, localAccount] = [{ accountName: `loud@${HOST}` }, { accountName: 'noisy' }]
  const server = { host: HOST }
  const [remote, local] = [[follows, federated, readers], [federated]]
  const kinds: Kind[] = [
    { kind: 'nobody: another server', of: 'loud', column: 2, tables: remote },
    {
      kind: 'the instance: an account of another server',
      of: 'loud',
      column: 3,
      tables: remote,
      by: 'admin',
      path: `${instance}/accounts`,
      body: account,
    },
    {
      kind: 'the instance: a server',
      of: 'loud',
      column: 3,
      tables: remote,
      by: 'admin',
      path: `${instance}/servers`,
      body: server,
    },
    {
      kind: 'a user: an account of another server',
      of: 'loud',
      column: 4,
      tables: remote,
      by: 'muter',
      path: `${own}/accounts`,
      body: account,
    },
    {
      kind: 'a user: a server',
      of: 'loud',
      column: 4,
      tables: remote,
      by: 'muter',
      path: `${own}/servers`,
      body: server,
    },
    { kind: 'nobody: an account of ours', of: 'noisy', column: 2, tables: local },
    {
      kind: 'the instance: an account of ours',
      of: 'noisy',
      column: 3,
      tables: local,
      by: 'moderator',
      path: `${instance}/accounts`,
      body: localAccount,
    },
    {
      kind: 'a user: an account of ours',
      of: 'noisy',
      column: 4,
      tables: local,
      by: 'muter',
      path: `${own}/accounts`,
      body: localAccount,
    },
  ]

  describe.each(kinds)('$kind', ({ of, column, tables, by, path, body }) => {
    beforeAll(async () => {
      const { channelActorId } = await accountOf(of)
      for (const user of USERS) await follow((await accountOf(user)).actorId, channelActorId)
      const { actorId: foreign } = await accountOf(of)
      await follow(foreign, (await accountOf('peertube')).actorId)
      await follow(foreign, (await accountOf('muter')).channelActorId)
      if (by && path) await asClient(by).send('POST', path, body)
      await settled()
    })
    afterAll(async () => {
      if (by && path) await asClient(by).send('DELETE', `${path}/${Object.values(body ?? {})[0]}`)
    })

    it.each([...places, ...(tables === remote ? follows : [])])('%s', async (...row) => {
      expect(await seen(row[1], subject(of))).toBe(row[column])
    })
    it.each(tables === remote ? [...federated, ...readers] : federated)('for other servers: %s', async (...row) => {
      expect(await seen(row[1], subject(of), ['visitor'])).toBe(row[column])
    })
  })

  it('a local account that the instance mutes still sees its own content', async () => {
    const noisy = await login(node.base, 'noisy', 'the password of noisy')
    await asClient('admin').send('POST', `${instance}/accounts`, localAccount)
    const lists = ['accounts/noisy/video-channels', 'accounts/noisy/video-playlists', 'users/me/videos']
    for (const list of lists) expect((await noisy.get<Page>(`/api/v1/${list}`)).total).toBeGreaterThan(0)
    await asClient('admin').send('DELETE', `${instance}/accounts/noisy`)
  })
})

describe('a video blocked by the instance', () => {
  interface Subject {
    id: number
    uuid: string
    url: string
    name: string
    file: { id: number; name: string; saved: string }
    caption: string
    thumbnail: string
    /** Of another account, with the video alone. */
    playlist: string
    threadId: number
  }
  const INSIDERS = '401 403 403 shown shown shown'
  const OWNER = '401 hidden hidden shown hidden hidden'
  const uuid = (video: Subject) => video.uuid
  const of = (path: string) => (video: Subject) => `/api/v1/videos/${video.uuid}${path}`

  /** In each kind of block: by a moderator, with or without unfederation, or until a moderator has approved it. */
  const places: [place: string, look: Look<Subject>, open: string, blocked: string][] = [
    ['all videos', inList(() => '/api/v1/videos', uuid), ALL, NOBODY],
    ['all with those that are blocked', inList(() => '/api/v1/videos?include=2', uuid), ASKED_BY_STAFF, ASKED_BY_STAFF],
    ['found videos', inList(({ name }) => `/api/v1/search/videos?search=${name}`, uuid), ALL, NOBODY],
    ['videos found by UUID', inList((one) => `/api/v1/search/videos?uuids=${one.uuid}`, uuid), ALL, NOBODY],
    ['a video found by its address', inList((one) => `/api/v1/search/videos?search=${one.url}`, uuid), ALL, NOBODY],
    ['the overview', inText(() => '/api/v1/overviews/videos', uuid), ALL, NOBODY],
    ['videos of the account', inList(() => '/api/v1/accounts/owner/videos', uuid), ALL, NOBODY],
    ['videos of the channel', inList(() => '/api/v1/video-channels/owner_channel/videos', uuid), ALL, NOBODY],
    ['own videos', inList(() => '/api/v1/users/me/videos', uuid), OWNER, OWNER],
    ['new of followed channels', inList(() => '/api/v1/users/me/subscriptions/videos', uuid), SIGNED_IN, NO_USER],
    ['history', inList(() => '/api/v1/users/me/history/videos', uuid), SIGNED_IN, NO_USER],
    [
      'a playlist',
      inList(({ playlist }) => `/api/v1/video-playlists/${playlist}/videos`, uuid),
      ...([ALL, 'hidden hidden hidden shown hidden hidden'] as const),
    ],
    ['the video', status(of('')), ALL, INSIDERS],
    ['its description', status(of('/description')), ALL, INSIDERS],
    ['its captions', status(of('/captions')), ALL, INSIDERS],
    ['its chapters', status(of('/chapters')), ALL, INSIDERS],
    ['its storyboards', status(of('/storyboards')), ALL, INSIDERS],
    ['its threads', inList(of('/comment-threads'), () => 'A thread'), ALL, INSIDERS],
    ['a thread', status((one) => `/api/v1/videos/${one.uuid}/comment-threads/${one.threadId}`), ALL, INSIDERS],
    ['a new thread', status(of('/comment-threads'), json('POST', { text: 'A thread' })), SIGNED_IN, INSIDERS],
    [
      'a reply',
      status((one) => `/api/v1/videos/${one.uuid}/comments/${one.threadId}`, json('POST', { text: 'A reply' })),
      ...([SIGNED_IN, INSIDERS] as const),
    ],
    ['a view', status(of('/views'), json('POST', { currentTime: 1 })), ALL, INSIDERS],
    ['a rate', status(of('/rate'), json('PUT', { rating: 'like' })), SIGNED_IN, INSIDERS],
    [
      'a report',
      status(
        () => '/api/v1/abuses',
        ({ id }) => json('POST', { reason: 'a reason', video: { id } }),
      ),
      ...([SIGNED_IN, '401 404 404 shown shown shown'] as const),
    ],
    ['a token for its files', status(of('/token'), { method: 'POST' }), ...(['400 shown shown shown shown shown', INSIDERS] as const)],
    ['its page', status((one) => `/w/${one.uuid}`), ALL, '404'],
    ['its page inside others', status((one) => `/videos/embed/${one.uuid}`), ALL, '404'],
    ['oEmbed', status(({ url }) => `/services/oembed?url=${encodeURIComponent(url)}`), ALL, '403'],
    [
      'the first page',
      inText(
        () => '/',
        ({ name }) => name,
        { headers: { accept: 'text/html' } },
      ),
      ALL,
      NOBODY,
    ],
    ['its file where everybody has it', status(({ file }) => `/static/web-videos/${file.name}`), ALL, '404'],
    [
      'its file where each request is checked',
      status(({ file }) => `/static/web-videos/private/${file.name}`),
      ...(['403 shown shown shown shown shown', '403 403 403 shown shown shown'] as const),
    ],
    ['a saved file', status(({ file }) => `/download/web-videos/${file.saved}`), ...([ALL, '403 403 403 shown shown shown'] as const)],
    [
      'its files saved as one',
      status((one) => `/download/videos/generate/${one.uuid}?videoFileIds=${one.file.id}`),
      ...([ALL, '403 403 403 shown shown shown'] as const),
    ],
    ['a caption', status(({ caption }) => `/lazy-static/video-captions/${caption}`), ALL, INSIDERS],
    ['its thumbnail', status(({ thumbnail }) => `/lazy-static/thumbnails/${thumbnail}`), ALL, INSIDERS],
    ['comments for the staff', inList(() => '/api/v1/videos/comments', uuid), STAFF, STAFF],
    ['comments below own videos', inList(() => '/api/v1/users/me/videos/comments', uuid), OWNER, OWNER],
  ]

  /** Access of other servers. They learn nothing of videos that they never got, or got a Delete of. */
  const federated: [place: string, look: Look<Subject>, open: string, blocked: string, takenBack: string][] = [
    ...['', '/comments', '/likes', '/dislikes', '/announces', '/chapters', '/activity'].map(
      (part): [string, Look<Subject>, string, string, string] => [
        `the document${part}`,
        status((one) => `/videos/watch/${one.uuid}${part}`, AP),
        ...([ALL, '401', '404'] as const),
      ],
    ),
    ['the outbox of the account', inText(() => '/accounts/owner/outbox?page=1', uuid, AP), ALL, NOBODY, NOBODY],
    ['that of the channel', inText(() => '/video-channels/owner_channel/outbox?page=1', uuid, AP), ALL, NOBODY, NOBODY],
    ['that of the instance', inText(() => '/accounts/peertube/outbox?page=1', uuid, AP), ALL, NOBODY, NOBODY],
    [
      'the document of a playlist',
      inText(
        ({ playlist }) => `/video-playlists/${playlist}`,
        () => '"totalItems":1',
        AP,
      ),
      ...([ALL, NOBODY, NOBODY] as const),
    ],
  ]

  async function upload(name: string): Promise<Subject> {
    const owner = asClient('owner')
    const made = await uploadBy(owner, bytes, { name, category: '1' })
    const form = new FormData()
    form.set('captionfile', new File(['WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n'], 'en.vtt', { type: 'text/vtt' }))
    await owner.send('PUT', `/api/v1/videos/${made.uuid}/captions/en`, form)
    await watched(made.id)
    const [row] = await node.query<{ id: number; file: string; saved: string; caption: string; thumbnail: string }>(
      `select f.id, f.filename as file, v.uuid || '-' || f.resolution || '.mp4' as saved, c.filename as caption,
         t.filename as thumbnail
       from video v join video_file f on f.video_id = v.id join video_caption c on c.video_id = v.id
         join thumbnail t on t.video_id = v.id and t.type = 1 where v.id = $1`,
      [made.id],
    )
    if (!row) throw new Error('The video has no file.')
    const { id, file, saved, caption, thumbnail } = row
    return {
      ...made,
      name,
      file: { id, name: file, saved },
      caption,
      thumbnail,
      playlist: await addPlaylist(await accountOf('other'), `with ${name}`, made.id),
      threadId: await addComment((await accountOf('owner')).id, made.id, 'A thread'),
    }
  }

  let usual: Subject
  let waiting: Subject
  beforeAll(async () => {
    const { channelActorId } = await accountOf('owner')
    for (const name of USERS) await follow((await accountOf(name)).actorId, channelActorId)
    usual = await upload('blockable')
    const share = 'select 1 from share where video_id = $1'
    await until(async () => (await node.query(share, [usual.id])).length === 2, { what: 'the shares' })
    const waitForModerators = async (enabled: boolean) => {
      const custom = await node.client.get<object>('/api/v1/config/custom')
      const autoBlacklist = { videos: { ofUsers: { enabled } } }
      await node.client.send('PUT', '/api/v1/config/custom', { ...custom, autoBlacklist })
    }
    await waitForModerators(true)
    waiting = await upload('waiting')
    await waitForModerators(false)
  })

  const block = ({ uuid }: Subject, unfederate: boolean) =>
    asClient('moderator').send('POST', `/api/v1/videos/${uuid}/blacklist`, { unfederate })
  const unblock = ({ uuid }: Subject) => asClient('moderator').send('DELETE', `/api/v1/videos/${uuid}/blacklist`)

  interface Kind {
    kind: string
    subject: () => Subject
    /** Columns of the tables. */
    here: 2 | 3
    elsewhere: 2 | 3 | 4
    begin?: () => Promise<unknown>
    end?: () => Promise<unknown>
  }
  const kinds: Kind[] = [
    { kind: 'not yet', subject: () => usual, here: 2, elsewhere: 2 },
    {
      kind: 'by a moderator',
      subject: () => usual,
      here: 3,
      elsewhere: 3,
      begin: () => block(usual, false),
      end: () => unblock(usual),
    },
    {
      kind: 'by one who takes it back from others',
      subject: () => usual,
      here: 3,
      elsewhere: 4,
      begin: () => block(usual, true),
      end: () => unblock(usual),
    },
    { kind: 'until a moderator has looked at it', subject: () => waiting, here: 3, elsewhere: 4 },
    { kind: 'until one has', subject: () => waiting, here: 2, elsewhere: 2, begin: () => unblock(waiting) },
  ]

  describe.each(kinds)('$kind', ({ subject, here, elsewhere, begin, end }) => {
    beforeAll(async () => {
      await begin?.()
      await settled()
    })
    afterAll(() => end?.())

    it.each(places)('%s', async (...row) => {
      expect(await seen(row[1], subject())).toBe(row[here])
    })
    it.each(federated)('for other servers: %s', async (...row) => {
      expect(await seen(row[1], subject(), ['visitor'])).toBe(row[elsewhere])
    })
  })
})
