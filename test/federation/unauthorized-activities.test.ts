// Authorization of activities: each activity that changes something, sent by the owner, by another actor of the same server, and by
// another server. Only the owner's has an effect.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { newUuid } from '../../src/platform/ids.ts'
import { type FakePeer, type JsonObject, type PeerActor, post, startFakePeer } from '../support/fake-peer.ts'
import { peerKeys } from '../support/fast-crypto.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { HANDLED_ACTIVITIES } from './handled-activities.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

interface Pair {
  account: PeerActor
  channel: PeerActor
}

let node: FederatedNode
let home: FakePeer
let away: FakePeer
let alice: Pair
let carol: Pair
let mallory: Pair
let video: { id: number; uuid: string; url: string }
/** A known actor of alice's server. */
let watchable: JsonObject & { id: string }

beforeAll(async () => {
  ;[node, home, away] = await Promise.all([startFederatedNode(), startFakePeer(), startFakePeer()])
  alice = await introduce(node, home, 'alice')
  carol = await introduce(node, home, 'carol')
  mallory = await introduce(node, away, 'mallory')
  await node.deliver(away.instance, away.activity(away.instance, 'Arrive', away.instance.url))
  video = await node.upload(await readFile(await media('small.mp4')))
  watchable = await remoteVideo()
})
afterAll(async () => {
  await Promise.all([home?.close(), away?.close(), node?.stop()])
})

const peerOf = (actor: PeerActor): FakePeer => (actor.url.startsWith(home.base) ? home : away)
/** Actors that are not the owner: of the same server, and of another. */
const strangers = (): [string, PeerActor][] => [
  ['another account of its server', carol.account],
  ['another channel of its server', carol.channel],
  ['an account of another server', mallory.account],
  ['a channel of another server', mallory.channel],
  ['another instance', away.instance],
]

interface Case {
  what: string
  /** The handled activity. */
  about: string
  /** Creates the object, and returns the activity about it as `by` would send it. */
  prepare(): Promise<{ owner: PeerActor; activity: (by: PeerActor) => JsonObject }>
}

const remoteVideo = async (more: JsonObject = {}) => {
  const document = home.video({ ...alice, more: { name: 'As it was', ...more } })
  await node.deliver(alice.account, home.activity(alice.account, 'Create', document))
  return document
}
const playlistOf = (peer: FakePeer, channel: PeerActor): JsonObject & { id: string } => {
  const uuid = newUuid()
  const playlist = {
    id: `${peer.base}/video-playlists/${uuid}`,
    type: 'Playlist',
    uuid,
    name: 'As it was',
    totalItems: 0,
    to: ['https://www.w3.org/ns/activitystreams#Public'],
    cc: [],
    attributedTo: [channel.url],
    published: '2026-02-01T00:00:00.000Z',
    updated: '2026-02-01T00:00:00.000Z',
  }
  peer.serve(playlist.id, playlist)
  return playlist
}
const remotePlaylist = async () => {
  const playlist = playlistOf(home, alice.channel)
  await node.deliver(alice.account, home.activity(alice.account, 'Create', playlist))
  return playlist
}
/** The WatchAction of a remote viewer. */
const watchOf = (peer: FakePeer, videoUrl: string): JsonObject => ({
  id: peer.id('watches'),
  type: 'WatchAction',
  uuid: '11111111-1111-4111-8111-111111111111',
  object: videoUrl,
  duration: 'PT2S',
  actionStatus: 'CompletedActionStatus',
  startTime: '2026-11-20T12:00:00.000Z',
  endTime: '2026-11-20T12:01:00.000Z',
  watchSections: [{ startTimestamp: 0, endTimestamp: 2 }],
})
const comment = async () => {
  const note = home.note({ author: alice.account.url, inReplyTo: video.url })
  await node.deliver(alice.account, home.activity(alice.account, 'Create', note))
  return note
}
const rated = async (type: string) => {
  const activity = home.activity(alice.account, type, video.url)
  await node.deliver(alice.account, activity)
  return activity
}
/** A copy of a local video on alice's server. */
const copied = async () => {
  const id = `${home.base}/redundancy/videos/${video.uuid}/240-25`
  const href = `${home.base}/static/redundancy/240.mp4`
  const copy = {
    type: 'CacheFile',
    id,
    object: video.url,
    expires: null,
    url: { type: 'Link', mediaType: 'video/mp4', href, height: 240, size: 1000, fps: 25 },
  }
  const create = { ...home.activity(home.instance, 'Create', copy), id: `${id}/${Date.now()}/activity` }
  await node.deliver(home.instance, create)
  return { copy, create }
}
/** An activity of alice, undone by another actor: with her as its actor, and without. */
const undoing = (done: JsonObject) => (by: PeerActor) => peerOf(by).activity(by, 'Undo', done)

const cases: Case[] = [
  {
    what: 'Update of a video',
    about: 'Update Video',
    async prepare() {
      const document = await remoteVideo()
      return {
        owner: alice.account,
        activity: (by) => peerOf(by).activity(by, 'Update', { ...document, name: 'Taken over' }),
      }
    },
  },
  {
    what: 'Update of what hangs on a video',
    about: 'Update Video',
    async prepare() {
      const document = await remoteVideo()
      const parts = (by: PeerActor) => ({
        subtitleLanguage: [{ identifier: 'fr', name: 'French', url: `${peerOf(by).base}/captions/fr.vtt` }],
        hasParts: [{ name: 'A chapter', startOffset: 0, endOffset: 1 }],
        isLiveBroadcast: true,
        liveSaveReplay: true,
        permanentLive: true,
        latencyMode: 3,
      })
      return {
        owner: alice.account,
        activity: (by) => peerOf(by).activity(by, 'Update', { ...document, ...parts(by) }),
      }
    },
  },
  {
    what: 'Update that moves a video to the own channel',
    about: 'Update Video',
    async prepare() {
      const document = await remoteVideo()
      return {
        owner: alice.account,
        activity: (by) => {
          const pair = [alice, carol, mallory].find((one) => Object.values(one).includes(by)) ?? mallory
          const attributedTo = [
            { type: 'Person', id: pair.account.url },
            { type: 'Group', id: pair.channel.url },
          ]
          return peerOf(by).activity(by, 'Update', { ...document, name: 'Moved', attributedTo })
        },
      }
    },
  },
  {
    what: 'Update of an account',
    about: 'Update Person',
    async prepare() {
      return {
        owner: alice.account,
        activity: (by) => peerOf(by).activity(by, 'Update', { ...alice.account.document, name: `Renamed by ${by.url}` }),
      }
    },
  },
  {
    what: 'Update that gives an actor another key',
    about: 'Update Person',
    async prepare() {
      const { rsa } = await peerKeys()
      const owner = await home.account(`keyed${Date.now()}`)
      await node.deliver(owner, home.activity(owner, 'Arrive', owner.url))
      return {
        owner,
        activity: (by) =>
          peerOf(by).activity(by, 'Update', {
            ...owner.document,
            publicKey: { id: owner.keyId, owner: owner.url, publicKeyPem: rsa.publicPem },
          }),
      }
    },
  },
  {
    what: 'Delete of a video',
    about: 'Delete Video',
    async prepare() {
      const document = await remoteVideo()
      return { owner: alice.account, activity: (by) => peerOf(by).activity(by, 'Delete', document.id) }
    },
  },
  ...['Update', 'Delete'].map(
    (type): Case => ({
      what: `${type} of a playlist`,
      about: `${type} Playlist`,
      async prepare() {
        const playlist = await remotePlaylist()
        const changed = { ...playlist, name: 'Taken over', updated: '2026-03-01T00:00:00.000Z' }
        return {
          owner: alice.account,
          activity: (by) => peerOf(by).activity(by, type, type === 'Update' ? changed : playlist.id),
        }
      },
    }),
  ),
  {
    what: 'Delete of a comment',
    about: 'Delete Note',
    async prepare() {
      const note = await comment()
      return {
        owner: alice.account,
        activity: (by) => peerOf(by).activity(by, 'Delete', { type: 'Tombstone', id: note.id, formerType: 'Note' }),
      }
    },
  },
  {
    what: 'Update of a comment',
    about: 'Update Note',
    async prepare() {
      const note = await comment()
      return {
        owner: alice.account,
        activity: (by) => peerOf(by).activity(by, 'Update', { ...note, content: 'Never said' }),
      }
    },
  },
  {
    what: 'Update of a comment, in the own name',
    about: 'Update Note',
    async prepare() {
      const note = await comment()
      return {
        owner: alice.account,
        activity: (by) => peerOf(by).activity(by, 'Update', { ...note, content: 'Never said', attributedTo: by.url }),
      }
    },
  },
  ...['ApproveReply', 'RejectReply', 'Delete'].map(
    (type): Case => ({
      what: `${type} of a comment of ours below a video`,
      about: type === 'Delete' ? 'Delete Note' : type,
      async prepare() {
        const { id } = await remoteVideo({ commentsPolicy: 3 })
        const [row] = await node.query<{ id: number }>('select id from video where url = $1', [id])
        const { comment: made } = await node.client.send<{ comment: { url: string } }>(
          'POST',
          `/api/v1/videos/${row?.id}/comment-threads`,
          { text: 'From afar' },
        )
        return { owner: alice.account, activity: (by) => peerOf(by).activity(by, type, made.url, { inReplyTo: id }) }
      },
    }),
  ),
  {
    what: 'Delete of an account',
    about: 'Delete actor',
    async prepare() {
      const owner = await home.account(`leaving${Date.now()}`)
      await node.deliver(owner, home.activity(owner, 'Arrive', owner.url))
      return { owner, activity: (by) => peerOf(by).activity(by, 'Delete', owner.url) }
    },
  },
  ...['Group', 'Application', 'Service', 'Organization'].map(
    (type): Case => ({
      what: `Update of an actor that is of the type ${type}`,
      about: `Update ${type}`,
      async prepare() {
        const name = `${type.toLowerCase()}${Date.now()}`
        const made = type === 'Group' ? await home.channel(name, alice.account) : await home.account(name)
        const document = { ...made.document, type }
        home.serve(made.url, document)
        const owner = { ...made, document }
        await node.deliver(owner, home.activity(owner, 'Arrive', owner.url))
        return {
          owner,
          activity: (by) => peerOf(by).activity(by, 'Update', { ...document, inbox: `${by.url}/another-inbox` }),
        }
      },
    }),
  ),
  {
    what: 'Delete of a channel',
    about: 'Delete actor',
    async prepare() {
      const owner = await home.channel(`leaving_channel${Date.now()}`, alice.account)
      await node.deliver(owner, home.activity(owner, 'Arrive', owner.url))
      return { owner, activity: (by) => peerOf(by).activity(by, 'Delete', owner.url) }
    },
  },
  ...['Update', 'Delete', 'Dislike', 'Undo'].map(
    (type): Case => ({
      what: `Announce of an ${type} of somebody, signed by who announces it`,
      about: 'Announce',
      async prepare() {
        const note = await comment()
        const like = await rated('Like')
        const object = {
          Update: { ...note, content: 'Never said' },
          Delete: note.id,
          Dislike: video.url,
          Undo: like,
        }[type]
        return {
          // The owner of the note sends it.
          owner: alice.account,
          activity: (by) => {
            const activities = home.activity(alice.account, type, object)
            return by === alice.account ? activities : peerOf(by).activity(by, 'Announce', activities)
          },
        }
      },
    }),
  ),
  {
    what: 'Undo of a Follow',
    about: 'Undo Follow',
    async prepare() {
      const follow = home.activity(alice.account, 'Follow', node.instance)
      await node.deliver(alice.account, follow)
      return { owner: alice.account, activity: undoing(follow) }
    },
  },
  {
    what: 'Undo of a Follow that names no actor',
    about: 'Undo Follow',
    async prepare() {
      const follow = home.activity(alice.account, 'Follow', node.instance)
      await node.deliver(alice.account, follow)
      return {
        owner: alice.account,
        activity: undoing({ type: 'Follow', id: follow.id, object: node.instance }),
      }
    },
  },
  ...['Like', 'Dislike', 'EmojiReact', 'Announce'].flatMap((type): Case[] => [
    {
      what: `Undo of a ${type}`,
      about: `Undo ${type}`,
      async prepare() {
        const done = await rated(type)
        return { owner: alice.account, activity: undoing(done) }
      },
    },
    {
      what: `Undo of a ${type} by its address`,
      about: `Undo ${type}`,
      async prepare() {
        const done = await rated(type)
        return { owner: alice.account, activity: (by) => peerOf(by).activity(by, 'Undo', done.id) }
      },
    },
  ]),
  {
    what: 'Update of a copy',
    about: 'Update CacheFile',
    async prepare() {
      const { copy } = await copied()
      const expires = new Date(Date.now() + 3_600_000).toISOString()
      return { owner: home.instance, activity: (by) => peerOf(by).activity(by, 'Update', { ...copy, expires }) }
    },
  },
  {
    what: 'Undo of the Create of a copy',
    about: 'Undo Create',
    async prepare() {
      const { create } = await copied()
      return { owner: home.instance, activity: undoing(create) }
    },
  },
  {
    what: 'Undo of the Create of a copy that names no actor',
    about: 'Undo Create',
    async prepare() {
      const { create } = await copied()
      const { actor: _actor, ...unnamed } = create as JsonObject
      return { owner: home.instance, activity: undoing(unnamed) }
    },
  },
  ...['Accept', 'Reject'].map(
    (type): Case => ({
      what: `${type} of our Follow`,
      about: type,
      async prepare() {
        await node.client.send('POST', '/api/v1/server/following', { handles: [`alice@${home.host}`] })
        const { activity: follow } = await home.awaited(
          'our Follow',
          ({ activity }) => activity.type === 'Follow' && activity.object === alice.account.url,
        )
        return { owner: alice.account, activity: (by) => peerOf(by).activity(by, type, follow) }
      },
    }),
  ),
]

describe('an activity about an object of a remote actor', () => {
  it.each(cases.map((one) => [one.what, one] as const))('%s: only its owner’s has an effect', async (_what, one) => {
    const { owner, activity } = await one.prepare()
    const before = await node.world()
    for (const [who, by] of strangers()) {
      const sent = activity(by)
      const { status } = await post(node, by, sent)
      expect([204, 401, 403]).toContain(status)
      expect({ who, world: await node.world() }).toEqual({ who, world: before })
    }
    await node.deliver(owner, activity(owner))
    expect(await node.world()).not.toEqual(before)
  })
})

/** The attack, the handled activity, and the attacker. */
type Attempt = { by: PeerActor; activity: JsonObject }
type Attack = [string, string, () => Attempt | Promise<Attempt>]

/** Views belong to a server: any of its actors may send them. */
const SPEAKS_FOR_ITS_ACTORS = ['View', 'Create WatchAction']

const named = (name: string) => {
  const { account, channel } = name === 'carol' ? carol : mallory
  return { by: account, channel, peer: peerOf(account) }
}

describe('an object attributed to another actor', () => {
  const attacks: Attack[] = [
    [
      'a video in a channel of another server',
      'Create Video',
      () => {
        const document = away.video({ account: mallory.account, channel: alice.channel })
        return { by: mallory.account, activity: away.activity(mallory.account, 'Create', document) }
      },
    ],
    [
      'a video in a channel of somebody else of the server',
      'Create Video',
      () => {
        const document = home.video({ account: carol.account, channel: alice.channel })
        return { by: carol.account, activity: home.activity(carol.account, 'Create', document) }
      },
    ],
    [
      'a video of another server, as if it was there',
      'Create Video',
      () => {
        const document = home.video(alice)
        return { by: mallory.account, activity: away.activity(mallory.account, 'Create', document) }
      },
    ],
    [
      'a video of another server, by its address',
      'Create Video',
      () => {
        const document = home.video(alice)
        return { by: mallory.account, activity: away.activity(mallory.account, 'Create', document.id) }
      },
    ],
    [
      'a comment of somebody of another server',
      'Create Note',
      () => {
        const note = away.note({ author: alice.account.url, inReplyTo: video.url })
        return { by: mallory.account, activity: away.activity(mallory.account, 'Create', note) }
      },
    ],
    [
      'a comment of somebody else of the server',
      'Create Note',
      () => {
        const note = home.note({ author: alice.account.url, inReplyTo: video.url })
        return { by: carol.account, activity: home.activity(carol.account, 'Create', note) }
      },
    ],
    [
      'a comment that lives on another server',
      'Create Note',
      () => {
        const note = home.note({ author: mallory.account.url, inReplyTo: video.url })
        return { by: mallory.account, activity: away.activity(mallory.account, 'Create', note) }
      },
    ],
    ...['ApproveReply', 'RejectReply'].map(
      (type): Attack => [
        `${type} of a comment on a video of ours`,
        type,
        () => ({
          by: alice.account,
          activity: home.activity(alice.account, type, `${video.url}/comments/1`, { inReplyTo: video.url }),
        }),
      ],
    ),
    ...['Like', 'Dislike', 'EmojiReact', 'Announce', 'Follow', 'Flag', 'View'].map(
      (type): Attack => [
        `a ${type} whose id is of another server`,
        type,
        () => {
          const object = type === 'Follow' ? node.instance : video.url
          return {
            by: mallory.account,
            activity: { ...away.activity(mallory.account, type, object), id: home.id() },
          }
        },
      ],
    ),
    [
      'a copy of our video that another server is said to hold',
      'Create CacheFile',
      () => {
        const id = `${home.base}/redundancy/streaming-playlists/hls/${video.uuid}`
        const url = { type: 'Link', mediaType: 'application/x-mpegURL', href: `${home.base}/static/redundancy` }
        const copy = { type: 'CacheFile', id, object: video.url, expires: null, url }
        return { by: away.instance, activity: away.activity(away.instance, 'Create', copy) }
      },
    ],
    [
      'an Announce that a person makes of an unknown video',
      'Announce',
      () => {
        const document = home.video(alice)
        return { by: mallory.account, activity: away.activity(mallory.account, 'Announce', document.id) }
      },
    ],
    [
      'an Announce of a page that is no video',
      'Announce',
      () => ({ by: mallory.channel, activity: away.activity(mallory.channel, 'Announce', alice.account.url) }),
    ],
    [
      'an Announce of one of our own things that is no video',
      'Announce',
      () => ({ by: mallory.channel, activity: away.activity(mallory.channel, 'Announce', node.instance) }),
    ],
    ...[{}, { expires: '2099-01-01T00:00:00.000Z' }].map(
      (more): Attack => [
        `a View of a video of another server ${JSON.stringify(more)}`,
        'View',
        () => ({ by: away.instance, activity: away.activity(away.instance, 'View', watchable.id, more) }),
      ],
    ),
    [
      'what somebody watched of a video of another server',
      'Create WatchAction',
      () => ({ by: away.instance, activity: away.activity(away.instance, 'Create', watchOf(away, watchable.id)) }),
    ],
    [
      'what somebody of another server watched',
      'Create WatchAction',
      () => ({ by: away.instance, activity: away.activity(away.instance, 'Create', watchOf(home, video.url)) }),
    ],
    [
      'an Accept of a Follow that we never sent',
      'Accept',
      () => {
        const follow = {
          type: 'Follow',
          id: `${node.instance}/follows/99999`,
          actor: node.instance,
          object: mallory.account.url,
        }
        return { by: mallory.account, activity: away.activity(mallory.account, 'Accept', follow) }
      },
    ],
    ...['Like', 'Dislike', 'EmojiReact', 'Announce', 'Flag'].map(
      (type): Attack => [
        `a ${type} under the id that somebody else of the server gave to one`,
        type,
        async () => {
          const object = type === 'Follow' ? node.instance : video.url
          const first = home.activity(alice.account, type, object)
          await node.deliver(alice.account, first)
          return { by: carol.account, activity: { ...first, actor: carol.account.url } }
        },
      ],
    ),
    [
      'a Follow in the name of somebody else of the server',
      'Follow',
      () => {
        const follow = home.activity(alice.account, 'Follow', `${node.base}/video-channels/root_channel`)
        return { by: carol.account, activity: follow }
      },
    ],
    ...['carol', 'mallory'].flatMap((name): Attack[] => [
      [
        `a playlist of ${name} in a channel of somebody else`,
        'Create Playlist',
        () => {
          const { by, peer } = named(name)
          return { by, activity: peer.activity(by, 'Create', playlistOf(peer, alice.channel)) }
        },
      ],
      [
        `a playlist that exists, as one that ${name} made`,
        'Create Playlist',
        async () => {
          const { by, peer, channel } = named(name)
          const playlist = await remotePlaylist()
          const changed = {
            ...playlist,
            attributedTo: [channel.url],
            updated: '2026-03-01T00:00:00.000Z',
            name: 'Mine',
          }
          return { by, activity: peer.activity(by, 'Create', changed) }
        },
      ],
      [
        `a copy that exists, as one that ${name} holds`,
        'Create CacheFile',
        async () => {
          const { by, peer } = named(name)
          const { copy } = await copied()
          const expires = new Date(Date.now() + 3_600_000).toISOString()
          return { by, activity: peer.activity(by, 'Create', { ...copy, expires }) }
        },
      ],
      [
        `the Delete of a copy by ${name}`,
        'Undo Create',
        async () => {
          const { by, peer } = named(name)
          const { copy } = await copied()
          return { by, activity: peer.activity(by, 'Delete', copy.id) }
        },
      ],
      ...['Update', 'Delete', 'Undo'].map(
        (type): Attack => [
          `${type} of a report by ${name}`,
          'Flag',
          async () => {
            const { by, peer } = named(name)
            const flag = home.activity(alice.account, 'Flag', video.url, { content: 'As it was' })
            await node.deliver(alice.account, flag)
            const object = type === 'Delete' ? flag.id : { ...flag, content: 'Something else' }
            return { by, activity: peer.activity(by, type, object) }
          },
        ],
      ),
      ...['Update', 'Delete', 'Undo'].map(
        (type): Attack => [
          `${type} of what somebody watched by ${name}`,
          'Create WatchAction',
          async () => {
            const { by, peer } = named(name)
            const watch = { ...watchOf(home, video.url), id: home.id('watches'), uuid: newUuid() }
            const create = home.activity(home.instance, 'Create', watch)
            await node.deliver(home.instance, create)
            const object = { Update: { ...watch, duration: 'PT1S' }, Delete: watch.id, Undo: create }[type]
            return { by, activity: peer.activity(by, type, object) }
          },
        ],
      ),
      [
        `the end of a View by ${name}`,
        'View',
        async () => {
          const { by, peer } = named(name)
          const view = home.activity(home.instance, 'View', video.url, { expires: '2099-01-01T00:00:00.000Z' })
          await node.deliver(home.instance, view)
          return { by, activity: peer.activity(by, 'Undo', view) }
        },
      ],
    ]),
    [
      'a View under the id that another server gave to one',
      'View',
      async () => {
        const view = home.activity(home.instance, 'View', video.url, { expires: '2099-01-01T00:00:00.000Z' })
        await node.deliver(home.instance, view)
        return {
          by: away.instance,
          activity: { ...view, actor: away.instance.url, expires: '2099-02-01T00:00:00.000Z' },
        }
      },
    ],
  ]

  it.each(attacks)('%s has no effect', async (_what, _about, attack) => {
    const { by, activity } = await attack()
    const before = await node.world()
    const { status } = await post(node, by, activity)
    expect([204, 401, 403]).toContain(status)
    expect(await node.world()).toEqual(before)
    expect(await node.query("select error from incoming_activity where state in ('retrying', 'parked')")).toEqual([])
  })

  it.each(HANDLED_ACTIVITIES)('%s: another actor of its server has tried it, and one of another server', async (handled) => {
    if (cases.some(({ about }) => about === handled)) return
    const tried = await Promise.all(attacks.filter(([, about]) => about === handled).map(([, , attack]) => attack()))
    const servers = new Set(tried.map(({ by }) => peerOf(by)))
    expect([servers.has(home) || SPEAKS_FOR_ITS_ACTORS.includes(handled), servers.has(away)]).toEqual([true, true])
  })

  it("a comment attributed to another server's actor is a placeholder above its replies", async () => {
    const parent = away.note({ author: alice.account.url, inReplyTo: video.url, content: 'Never said' })
    const note = away.note({ author: mallory.account.url, inReplyTo: parent.id })
    await node.deliver(mallory.account, away.activity(mallory.account, 'Create', note))
    const stored = (url: string) =>
      node.query(
        `select m.text, x.url as author, m.deleted_at is not null as "isRemoved" from comment m
           left join account a on a.id = m.account_id left join actor x on x.id = a.actor_id where m.url = $1`,
        [url],
      )
    await until(async () => (await stored(note.id)).length > 0, { what: 'the reply' })
    expect(await stored(note.id)).toEqual([{ text: 'Well said', author: mallory.account.url, isRemoved: false }])
    expect(await stored(parent.id)).toEqual([{ text: '', author: null, isRemoved: true }])
  })

  it('a video with the UUID of another one does not change that one, and gets a new local UUID', async () => {
    const document = await remoteVideo()
    const stored = (url: unknown) => node.query<{ uuid: string; name: string }>('select uuid, name from video where url = $1', [url])
    const before = await Promise.all([stored(document.id), stored(video.url)])
    for (const uuid of [document.uuid, video.uuid]) {
      const twin = away.video({ ...mallory, more: { uuid, name: 'A twin' } })
      await node.deliver(mallory.account, away.activity(mallory.account, 'Create', twin))
      const renamed = { ...twin, name: 'A twin, again', updated: new Date().toISOString() }
      await node.deliver(mallory.account, away.activity(mallory.account, 'Update', renamed))
      expect(await stored(twin.id)).toEqual([{ uuid: expect.not.stringContaining(String(uuid)), name: 'A twin, again' }])
    }
    expect(await Promise.all([stored(document.id), stored(video.url)])).toEqual(before)
  })

  it('a rating or share of a video that is not public is ignored', async () => {
    const hidden = await node.upload(await readFile(await media('small.mp4')), { privacy: '3', name: 'Hidden' })
    const before = await node.world()
    for (const type of ['Like', 'Dislike', 'Announce', 'View']) {
      await node.deliver(alice.account, home.activity(alice.account, type, hidden.url))
    }
    await node.deliver(
      alice.account,
      home.activity(alice.account, 'Create', home.note({ author: alice.account.url, inReplyTo: hidden.url })),
    )
    expect(await node.world()).toEqual(before)
  })

  it('an actor whose URL later leads to another actor does not speak for that one', async () => {
    const eve = await away.account('eve')
    await node.deliver(eve, away.activity(eve, 'Arrive', eve.url))
    away.serve(eve.url, alice.account.document)
    await node.query("update actor set refreshed_at = now() - interval '3 days' where url = $1", [eve.url])
    const ofAlice = () =>
      node.query(
        `select f.url from follow f join actor x on x.id = f.follower_id where x.url = $1
         union all select r.url from rating r join account a on a.id = r.account_id join actor x on x.id = a.actor_id
         where x.url = $1`,
        [alice.account.url],
      )
    const before = await ofAlice()
    await node.deliver(eve, away.activity(eve, 'Dislike', video.url))
    await node.deliver(eve, away.activity(eve, 'Follow', `${node.base}/accounts/root`))
    expect(await ofAlice()).toEqual(before)
  })
})
