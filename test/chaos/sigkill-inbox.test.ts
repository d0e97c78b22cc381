// kill -9 of the node while it processes remote comments, which share transactions: each acknowledged comment has its effect once.
// VIREO_TEST_SEED chooses other moments.

import { setTimeout as moment } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { commentBy, type SignedPost, seedPeers } from '../../bench/federation/peers.ts'
import { seedVideos } from '../../bench/seed.ts'
import { freePort } from '../support/ports.ts'
import { freshDatabase } from '../support/postgres.ts'
import { eventually } from '../support/until.ts'
import { ask, type Child, dataFolder, start } from './support/child.ts'
import { seededRandom } from './support/seeded-random.ts'

const ROUNDS = 4
const COMMENTS = 200
const AT_ONCE = 16
const LONGEST_UNTIL_KILLED_MS = 600

const random = seededRandom()
const folder = dataFolder()
let place: { dataDir: string; databaseUrl: string }
let options: { dataDir: string; port: number; env: Record<string, string> }
let node: Child
let removeDatabase: () => Promise<void>

beforeAll(async () => {
  const database = await freshDatabase()
  removeDatabase = database.drop
  place = { dataDir: folder.path, databaseUrl: database.url }
  const env = {
    DATABASE_URL: database.url,
    VIREO__RATES_LIMIT__ACTIVITY_PUB__MAX: '100000',
    VIREO__VIREO__FEDERATION__INBOX__COMMENTS_PER_HOST: '100000',
    VIREO__VIREO__FEDERATION__INBOX__ACTIVITIES_PER_HOST: '100000',
  }
  options = { dataDir: folder.path, port: await freePort(), env }
  node = await start(options)
})

afterAll(async () => {
  await node?.kill9({ database: false })
  await folder.remove()
  await removeDatabase?.()
})

it("stores each comment once, counts it, and notifies the owner and the comment's server once", async () => {
  const { databaseUrl } = place
  const { uuid } = await seedVideos({ databaseUrl, origin: node.base, count: 1 })
  const peers = await seedPeers({
    databaseUrl,
    prefix: 'peer',
    hosts: 4,
    perHost: 10,
    inboxes: ['http://127.0.0.1:9/inbox'],
  })
  for (let round = 0; round < ROUNDS; round += 1) {
    const posts = Array.from({ length: COMMENTS }, (_, n) => peers[n % peers.length]).flatMap((peer) =>
      peer ? [commentBy(peer, `${node.base}/videos/watch/${uuid}`, `${node.base}/inbox`)] : [],
    )
    const lost = postAll(posts)
    await moment(random() * LONGEST_UNTIL_KILLED_MS)
    await node.kill9({ database: false })
    const again = await lost
    node = await start(options)
    expect(await postAll(again)).toEqual([])
  }

  const all = ROUNDS * COMMENTS
  await eventually(async () => {
    expect(await ask(place, "select count(*)::int as n from incoming_activity where state <> 'done'")).toEqual([{ n: 0 }])
    expect(await ask(place, 'select count(*)::int as n from outbox')).toEqual([{ n: 0 }])
  })
  const threads = await fetch(`${node.base}/api/v1/videos/${uuid}/comment-threads?count=1`)
  expect(await threads.json()).toMatchObject({ total: all })
  const [counts] = await ask(
    place,
    `select (select comments from video) + (select coalesce(sum(comments), 0)::int from video_delta) as counted,
       (select count(*)::int from notification) as notified, (select count(distinct comment_id)::int from notification) as "notifiedOf",
       (select count(*)::int from document) as approvals, (select count(distinct activity_id)::int from document) as "approvalsOf",
       (select sum(n)::int from (select total as n from activity_total union all select delta from activity_total_delta) handled)
         as handled`,
  )
  expect(counts).toEqual({
    counted: all,
    notified: all,
    notifiedOf: all,
    approvals: all,
    approvalsOf: all,
    handled: all,
  })
})

/** Returns the comments that were not acknowledged. */
async function postAll(posts: readonly SignedPost[]): Promise<SignedPost[]> {
  const waiting = [...posts]
  const lost: SignedPost[] = []
  const work = async () => {
    for (let post = waiting.shift(); post; post = waiting.shift()) {
      const { path, headers: signed, body } = post
      const { host: _, ...headers } = signed
      const answer = await fetch(new URL(path, node.base), { method: 'POST', headers, body }).catch(() => undefined)
      if (answer?.status !== 204) lost.push(post)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return lost
}
