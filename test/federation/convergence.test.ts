// Activities arrive late, twice and in any order. Whatever the order, what stands in the end is what each actor said last.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type FakePeer, type JsonObject, type PeerActor, post, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

const ACTORS = ['ann', 'ben', 'cleo'] as const
const RUNS = 12
const HOUR_MS = 3_600_000

type Actor = { account: PeerActor; channel: PeerActor }

let ours: FederatedNode
let peer: FakePeer
let actors: Actor[]
let bytes: Buffer

beforeAll(async () => {
  ;[ours, peer] = await Promise.all([startFederatedNode(), startFakePeer()])
  bytes = await readFile(await media('small.mp4'))
  actors = await Promise.all(ACTORS.map((name) => introduce(ours, peer, name)))
}, 60_000)
afterAll(async () => {
  await Promise.all([peer?.close(), ours?.stop()])
})

/** What an actor does next to one of its things; what is not possible then is left out. */
const step = fc.record({
  actor: fc.nat(ACTORS.length - 1),
  act: fc.constantFrom('like', 'dislike', 'unrate', 'share', 'unshare', 'follow', 'unfollow'),
})
const making = fc.record({
  actor: fc.nat(ACTORS.length - 1),
  act: fc.constantFrom('make', 'change', 'remove'),
  kind: fc.constantFrom('note', 'video'),
  thing: fc.nat(1),
})
const script = fc.record({
  steps: fc.array(fc.oneof(step, making), { minLength: 8, maxLength: 30 }),
  /** In which order they arrive, and which of them twice. */
  order: fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
})

interface Said {
  by: PeerActor
  activity: JsonObject
}

/** What stands when everybody is heard: of each actor its rating, share, follow and things. */
interface Model {
  rates: Record<string, string>
  shares: string[]
  follows: string[]
  notes: Record<string, string>
  videos: Record<string, string>
}

it('every order of arrival leads to what was said last', async () => {
  await fc.assert(
    fc.asyncProperty(script, async ({ steps, order }) => {
      const target = await ours.upload(bytes, { name: 'Talked of' })
      const { said, model } = play(steps, target.url)
      const sent = [...said, ...said.filter(() => order.next().value < 0.3)]
        .map((one) => ({ ...one, at: order.next().value }))
        .sort((a, b) => a.at - b.at)
      for (let at = 0; at < sent.length; at += 4) {
        const answers = await Promise.all(sent.slice(at, at + 4).map(({ by, activity }) => post(ours, by, activity)))
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 204))
      }
      await ours.settled()
      await until(async () => JSON.stringify(await standing(target.url)) === JSON.stringify(model), {
        what: 'what was said last',
        withinMs: 3000,
      }).catch(() => undefined)
      expect(await standing(target.url)).toEqual(model)
      await forget()
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
}, 180_000)

/** Says the script in its order, a second apart, and keeps what stands after each word. */
function play(steps: { actor: number; act: string; kind?: string; thing?: number }[], target: string) {
  const said: Said[] = []
  const start = Date.now() - HOUR_MS
  const rates = new Map<string, { type: string; activity: JsonObject }>()
  const shares = new Map<string, JsonObject>()
  const follows = new Map<string, JsonObject>()
  const notes = new Map<string, { document: JsonObject & { id: string }; gone: boolean }>()
  const videos = new Map<string, { document: JsonObject & { id: string }; gone: boolean }>()

  for (const [index, { actor, act, kind, thing }] of steps.entries()) {
    const one = actors[actor]
    if (!one) continue
    const { account } = one
    const published = new Date(start + index * 1000).toISOString()
    const say = (type: string, object: unknown): JsonObject => {
      const activity = peer.activity(account, type, object, { published })
      said.push({ by: account, activity })
      return activity
    }
    const stored = act === 'make' || act === 'change' || act === 'remove'
    if (stored) {
      const all = kind === 'note' ? notes : videos
      const key = `${account.url} ${thing}`
      const known = all.get(key)
      if (act === 'make' && (!known || known.gone)) {
        const document =
          kind === 'note'
            ? peer.note({ author: account.url, inReplyTo: target, content: `said ${index}`, more: { published } })
            : peer.video({ ...one, more: { name: `shown ${index}`, updated: published } })
        all.set(known ? `${key} ${index}` : key, { document, gone: false })
        say('Create', document)
      } else if (act === 'change' && known && !known.gone) {
        const more = kind === 'note' ? { content: `changed ${index}` } : { name: `changed ${index}` }
        const document = { ...known.document, ...more, updated: published }
        peer.serve(document.id, document)
        all.set(key, { document, gone: false })
        say('Update', document)
      } else if (act === 'remove' && known && !known.gone) {
        all.set(key, { ...known, gone: true })
        say('Delete', known.document.id)
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
    } else if (act === 'follow') follows.set(account.url, say('Follow', `${ours.base}/accounts/root`))
    else {
      const follow = follows.get(account.url)
      if (follow) say('Undo', follow)
      follows.delete(account.url)
    }
  }

  const alive = (all: typeof notes, term: string) =>
    sorted([...all.values()].filter(({ gone }) => !gone).map(({ document }) => [document.id, String(document[term])]))
  const model: Model = {
    rates: sorted([...rates].map(([url, { type }]) => [url, type])),
    shares: [...shares.keys()].toSorted(),
    follows: [...follows.keys()].toSorted(),
    notes: alive(notes, 'content'),
    videos: alive(videos, 'name'),
  }
  return { said, model }
}

const sorted = (entries: [string, string][]): Record<string, string> =>
  Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))

async function standing(target: string): Promise<Model> {
  const pairs = async (text: string) =>
    sorted((await ours.query<{ key: string; value: string }>(text, [target])).map(({ key, value }) => [key, value]))
  const keys = async (text: string, values: unknown[]) =>
    (await ours.query<{ key: string }>(text, values)).map(({ key }) => key).toSorted()
  return {
    rates: await pairs(
      `select x.url as key, r.type as value from rating r join video v on v.id = r.video_id
       join account a on a.id = r.account_id join actor x on x.id = a.actor_id where v.url = $1`,
    ),
    shares: await keys(
      `select x.url as key from share s join video v on v.id = s.video_id
       join actor x on x.id = s.actor_id where v.url = $1 and x.host_id is not null`,
      [target],
    ),
    follows: await keys(
      `select x.url as key from follow f join actor x on x.id = f.follower_id join actor t on t.id = f.target_id
       where t.url = $1 and f.state = 'accepted'`,
      [`${ours.base}/accounts/root`],
    ),
    notes: await pairs(
      `select c.url as key, c.text as value from comment c join video v on v.id = c.video_id
       where v.url = $1 and c.deleted_at is null`,
    ),
    videos: await pairs(`select v.url as key, v.name as value from video v where v.remote and $1 <> ''`),
  }
}

/** Between two runs: the things of the peer's actors that belong to no video of ours. */
async function forget(): Promise<void> {
  await ours.query('delete from video where remote')
  await ours.query('delete from follow where follower_id in (select id from actor where host_id is not null)')
  await ours.query('delete from incoming_activity')
}
