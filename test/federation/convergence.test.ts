// Activities arrive late, twice and in any order: the final state is always what each actor said last.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { contextOf } from '../../src/federation/wire/context.ts'
import { newUuid } from '../../src/platform/ids.ts'
import { type FakePeer, type JsonObject, type PeerActor, post, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import fc from '../support/properties.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

const ACTORS = ['ann', 'ben', 'cleo'] as const
const RUNS = 12
/** Objects of actors: comments on a local video and on one of Ann's, videos and playlists. */
const KINDS = ['note', 'answer', 'video', 'playlist'] as const
type Kind = (typeof KINDS)[number]
const HOUR_MS = 3_600_000

type Actor = { account: PeerActor; channel: PeerActor; peer: FakePeer }

let node: FederatedNode
/** Server of the first two actors, and server of the third. */
let peers: [FakePeer, FakePeer]
let actors: Actor[]
let bytes: Buffer

beforeAll(async () => {
  ;[node, ...peers] = await Promise.all([startFederatedNode(), startFakePeer(), startFakePeer()])
  bytes = await readFile(await media('small.mp4'))
  actors = await Promise.all(
    ACTORS.map(async (name) => {
      const peer = name === 'cleo' ? peers[1] : peers[0]
      return { ...(await introduce(node, peer, name)), peer }
    }),
  )
})
afterAll(async () => {
  await Promise.all([...peers.map((peer) => peer.close()), node?.stop()])
})

/** The next action of an actor on one of its objects; impossible ones are skipped. */
const step = fc.record({
  actor: fc.nat(ACTORS.length - 1),
  act: fc.constantFrom('like', 'dislike', 'unrate', 'share', 'unshare', 'follow', 'unfollow'),
})
const making = fc.record({
  actor: fc.nat(ACTORS.length - 1),
  // The owner removes comments of others, who may continue before they know.
  act: fc.constantFrom('make', 'change', 'remove', 'ban'),
  kind: fc.constantFrom(...KINDS),
  thing: fc.nat(1),
})
const script = fc.record({
  steps: fc.array(fc.oneof(step, making), { minLength: 8, maxLength: 30 }),
  /** The order of arrival, with some activities twice. */
  order: fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
})

interface Said {
  by: PeerActor
  activity: JsonObject
}

/** The expected state: the rating, share, follow and objects of each actor. */
interface Model {
  rates: Record<string, string>
  shares: string[]
  follows: string[]
  things: Record<Kind, Record<string, string>>
}

it('every order of arrival leads to the same final state', async () => {
  await fc.assert(
    fc.asyncProperty(script, async ({ steps, order }) => {
      const target = await node.upload(bytes, { name: 'Talked of' })
      const stage = await openStage()
      const { said, model } = play(steps, { target: target.url, stage })
      const sent = [...said, ...said.filter(() => order.next().value < 0.3)]
        .map((one) => ({ ...one, at: order.next().value }))
        .sort((a, b) => a.at - b.at)
      for (let at = 0; at < sent.length; at += 4) {
        const answers = await Promise.all(sent.slice(at, at + 4).map(({ by, activity }) => post(node, by, activity)))
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 204))
      }
      await node.settled()
      const stands = () => standing({ target: target.url, stage })
      await until(async () => JSON.stringify(await stands()) === JSON.stringify(model), {
        what: 'what was said last',
        withinMs: 3000,
      }).catch(() => undefined)
      expect(await stands()).toEqual(model)
      await forget()
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
})

/** A video of Ann that everybody knows. */
async function openStage(): Promise<string> {
  const [ann] = actors
  if (!ann) throw new Error('no actors')
  const video = ann.peer.video({ ...ann, more: { name: 'The stage' } })
  await node.deliver(ann.account, ann.peer.activity(ann.account, 'Create', video))
  return video.id
}

interface Thing {
  document: JsonObject & { id: string }
  /** `banned`: removed by somebody else, without its author's knowledge. */
  fate: 'alive' | 'gone' | 'banned'
}

/** Runs the script in order, a second apart, and records the state after each action. */
function play(steps: { actor: number; act: string; kind?: Kind; thing?: number }[], { target, stage }: { target: string; stage: string }) {
  const said: Said[] = []
  const start = Date.now() - HOUR_MS
  const rates = new Map<string, { type: string; activity: JsonObject }>()
  const shares = new Map<string, JsonObject>()
  const follows = new Map<string, JsonObject>()
  const things: Record<Kind, Map<string, Thing>> = {
    note: new Map(),
    answer: new Map(),
    video: new Map(),
    playlist: new Map(),
  }

  for (const [index, { actor, act, kind, thing }] of steps.entries()) {
    const one = actors[actor]
    const [ann] = actors
    if (!one || !ann) continue
    const { account, peer } = one
    const published = new Date(start + index * 1000).toISOString()
    const say = (type: string, object: unknown, by = account): JsonObject => {
      const activity = peer.activity(by, type, object, { published })
      said.push({ by, activity })
      return activity
    }
    if (kind !== undefined) {
      const all = things[kind]
      const key = `${account.url} ${thing}`
      const known = all.get(key)
      if (act === 'make' && (!known || known.fate === 'gone')) {
        const document = make(kind, one, { index, published, inReplyTo: kind === 'answer' ? stage : target })
        peer.serve(document.id, document)
        all.set(known ? `${key} ${index}` : key, { document, fate: 'alive' })
        say('Create', document)
      } else if (act === 'change' && known && known.fate !== 'gone') {
        const document = { ...known.document, [TERMS[kind]]: `changed ${index}`, updated: published }
        peer.serve(document.id, document)
        all.set(key, { ...known, document })
        say('Update', document)
      } else if (act === 'remove' && known && known.fate !== 'gone') {
        peer.serve(known.document.id, () => ({ status: 410 }))
        all.set(key, { ...known, fate: 'gone' })
        say('Delete', known.document.id)
      } else if (act === 'ban' && kind === 'answer' && known?.fate === 'alive' && one !== ann) {
        all.set(key, { ...known, fate: 'banned' })
        say('Delete', known.document.id, ann.account)
      }
    } else if (act === 'like' || act === 'dislike') {
      const type = act === 'like' ? 'Like' : 'Dislike'
      rates.set(account.url, { type: act, activity: say(type, target) })
    } else if (act === 'unrate') {
      const rate = rates.get(account.url)
      if (rate) say('Undo', rate.activity)
      rates.delete(account.url)
    } else if (act === 'share') shares.set(account.url, say('Announce', target))
    else if (act === 'unshare') {
      const share = shares.get(account.url)
      if (share) say('Undo', share)
      shares.delete(account.url)
    } else if (act === 'follow') follows.set(account.url, say('Follow', `${node.base}/accounts/root`))
    else {
      const follow = follows.get(account.url)
      if (follow) say('Undo', follow)
      follows.delete(account.url)
    }
  }

  const alive = (kind: Kind) =>
    sorted(
      [...things[kind].values()].filter(({ fate }) => fate === 'alive').map(({ document }) => [document.id, String(document[TERMS[kind]])]),
    )
  const model: Model = {
    rates: sorted([...rates].map(([url, { type }]) => [url, type])),
    shares: [...shares.keys()].toSorted(),
    follows: [...follows.keys()].toSorted(),
    things: {
      note: alive('note'),
      answer: alive('answer'),
      video: alive('video'),
      playlist: alive('playlist'),
    },
  }
  return { said, model }
}

/** Tells two versions of an object apart. */
const TERMS: Record<Kind, string> = { note: 'content', answer: 'content', video: 'name', playlist: 'name' }

function make(
  kind: Kind,
  { account, channel, peer }: Actor,
  { index, published, inReplyTo }: { index: number; published: string; inReplyTo: string },
): JsonObject & { id: string } {
  switch (kind) {
    case 'note':
    case 'answer':
      return peer.note({ author: account.url, inReplyTo, content: `said ${index}`, more: { published } })
    case 'video':
      return peer.video({ account, channel, more: { name: `shown ${index}`, updated: published } })
    case 'playlist': {
      const uuid = newUuid()
      return {
        '@context': contextOf('playlist'),
        type: 'Playlist',
        id: `${peer.base}/video-playlists/${uuid}`,
        uuid,
        name: `listed ${index}`,
        content: null,
        mediaType: 'text/markdown',
        attributedTo: [channel.url],
        icon: null,
        totalItems: 0,
        orderedItems: [],
        published,
        updated: published,
        to: ['https://www.w3.org/ns/activitystreams#Public'],
        cc: [],
      }
    }
  }
}

const sorted = (entries: [string, string][]): Record<string, string> => Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))

async function standing({ target, stage }: { target: string; stage: string }): Promise<Model> {
  const pairs = async (text: string, value: string) =>
    sorted((await node.query<{ key: string; value: string }>(text, [value])).map(({ key, value }) => [key, value]))
  const keys = async (text: string, values: unknown[]) => (await node.query<{ key: string }>(text, values)).map(({ key }) => key).toSorted()
  const comments = (video: string) =>
    pairs(
      `select c.url as key, c.text as value from comment c join video v on v.id = c.video_id
       where v.url = $1 and c.deleted_at is null`,
      video,
    )
  return {
    rates: await pairs(
      `select x.url as key, r.type as value from rating r join video v on v.id = r.video_id
       join account a on a.id = r.account_id join actor x on x.id = a.actor_id where v.url = $1`,
      target,
    ),
    shares: await keys(
      `select x.url as key from share s join video v on v.id = s.video_id
       join actor x on x.id = s.actor_id where v.url = $1 and x.host_id is not null`,
      [target],
    ),
    follows: await keys(
      `select x.url as key from follow f join actor x on x.id = f.follower_id join actor t on t.id = f.target_id
       where t.url = $1 and f.state = 'accepted'`,
      [`${node.base}/accounts/root`],
    ),
    things: {
      note: await comments(target),
      answer: await comments(stage),
      video: await pairs('select url as key, name as value from video where remote and url <> $1', stage),
      playlist: await pairs('select url as key, name as value from playlist where remote and url <> $1', stage),
    },
  }
}

/** Between two runs, removes the objects of the actors that do not belong to the local video. */
async function forget(): Promise<void> {
  await until(async () => (await node.query("select 1 from job where type = 'playlist-reading' and finished_at is null")).length === 0, {
    what: 'the end of reading playlists',
  })
  await node.query('delete from video where remote')
  await node.query('delete from playlist where remote')
  await node.query('delete from follow where follower_id in (select id from actor where host_id is not null)')
  await node.query('delete from incoming_activity')
}
