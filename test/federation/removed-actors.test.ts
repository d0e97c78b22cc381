// Removed remote actors: their objects are removed, those of others remain, and counts stay right.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import pg from 'pg'
import { type FakePeer, type JsonObject, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

interface Pair {
  account: PeerActor
  channel: PeerActor
}

let local: FederatedNode
/** Follows the local instance and account. */
let near: FakePeer
let far: FakePeer
let video: { id: number; uuid: string; url: string }
let nora: Pair
let fred: Pair
let serial = 0

const root = () => `${local.base}/accounts/root`

beforeAll(async () => {
  ;[local, near, far] = await Promise.all([startFederatedNode(), startFakePeer(), startFakePeer()])
  nora = await introduce(local, near, 'nora')
  for (const target of [local.instance, root()]) {
    await local.deliver(nora.account, near.activity(nora.account, 'Follow', target))
  }
})
afterAll(async () => {
  await Promise.all([near?.close(), far?.close(), local?.stop()])
})
beforeEach(async () => {
  serial += 1
  fred = await introduce(local, far, `fred${serial}`)
  video = await local.upload(await readFile(await media('small.mp4')))
  await local.settled()
  for (const peer of [near, far]) peer.received.length = 0
})

const leave = (actor: PeerActor) => local.deliver(actor, far.activity(actor, 'Delete', actor.url))
const known = async (actor: PeerActor) => (await local.query('select 1 from actor where url = $1', [actor.url])).length
const counts = async () => {
  const [row] = await local.query<{ comments: number; likes: number; dislikes: number }>(
    `select v.comments + coalesce(sum(d.comments), 0)::int as comments, v.likes + coalesce(sum(d.likes), 0)::int as likes,
       v.dislikes + coalesce(sum(d.dislikes), 0)::int as dislikes
     from video v left join video_delta d on d.video_id = v.id where v.id = $1 group by v.id`,
    [video.id],
  )
  return row
}

async function said(by: Pair, peer: FakePeer, inReplyTo: string): Promise<{ id: number; url: string }> {
  const note = peer.note({ author: by.account.url, inReplyTo })
  await local.deliver(by.account, peer.activity(by.account, 'Create', note))
  const [comment] = await local.query<{ id: number }>('select id from comment where url = $1', [note.id])
  return { id: comment?.id ?? 0, url: note.id }
}
const reply = async (commentId: number) =>
  (
    await local.client.send<{ comment: { id: number } }>('POST', `/api/v1/videos/${video.id}/comments/${commentId}`, {
      text: 'An answer of ours',
    })
  ).comment

describe('a removed remote account', () => {
  it('leaves the replies of others below its comments, including local ones', async () => {
    const begun = await said(fred, far, video.url)
    const ofUs = await reply(begun.id)
    const ofNora = await said(nora, near, begun.url)
    expect(await counts()).toEqual({ comments: 3, likes: 0, dislikes: 0 })

    await leave(fred.account)
    expect(await known(fred.account)).toBe(0)
    expect(await counts()).toEqual({ comments: 2, likes: 0, dislikes: 0 })
    const thread = await local.client.get<{ comment: JsonObject; children: { comment: JsonObject }[] }>(
      `/api/v1/videos/${video.id}/comment-threads/${begun.id}`,
    )
    expect(thread.comment).toMatchObject({ isDeleted: true, text: '', account: null })
    expect(thread.children.map(({ comment }) => [comment.id, comment.isDeleted, comment.text])).toEqual([
      [ofUs.id, false, 'An answer of ours'],
      [ofNora.id, false, 'Well said'],
    ])
  })

  it('sends the Deletes of its comments on local videos to their followers', async () => {
    const { url } = await said(fred, far, video.url)
    await leave(fred.account)
    const { activity } = await near.awaited('the Delete', (one) => one.activity.type === 'Delete')
    expect(activity).toMatchObject({ actor: root(), object: url })
  })

  it('loses its ratings', async () => {
    const other = await introduce(local, far, `other${serial}`)
    await local.deliver(fred.account, far.activity(fred.account, 'Like', video.url))
    await local.deliver(other.account, far.activity(other.account, 'Dislike', video.url))
    expect(await counts()).toEqual({ comments: 0, likes: 1, dislikes: 1 })
    await leave(fred.account)
    await leave(other.account)
    expect(await counts()).toEqual({ comments: 0, likes: 0, dislikes: 0 })
  })

  it('loses its channels with their videos and their cached pictures', async () => {
    const document = far.video(fred)
    await local.deliver(fred.account, far.activity(fred.account, 'Create', document))
    const pictures = await local.query<{ filename: string }>(
      'select t.filename from thumbnail t join video v on v.id = t.video_id where v.url = $1 order by t.filename',
      [document.id],
    )
    expect(pictures).toHaveLength(2)
    // A trigger lists them until the collector runs, so the test records them first.
    await local.query('create table if not exists condemned (name text)')
    await local.query(
      `create or replace function note_condemned() returns trigger language plpgsql as
       $$ begin insert into condemned values (new.name); return null; end $$`,
    )
    await local.query(
      'create or replace trigger note_condemned after insert on pending_file for each row execute function note_condemned()',
    )
    await leave(fred.account)
    expect([await known(fred.account), await known(fred.channel)]).toEqual([0, 0])
    expect(await local.query('select 1 from video where url = $1', [document.id])).toEqual([])
    const names = pictures.map(({ filename }) => filename)
    expect(await local.query('select name from condemned where name = any($1) order by name', [names])).toEqual(
      names.map((name) => ({ name })),
    )
  })

  it('that is blocked is still blocked when it comes back, and forgotten when nobody blocks it', async () => {
    const handle = `fred${serial}@${far.host}`
    await said(fred, far, video.url)
    await local.client.send('POST', '/api/v1/users/me/blocklist/accounts', { accountName: handle })
    const blocked = async () =>
      (await local.client.get<{ data: { blockedAccount: { name: string } }[] }>('/api/v1/users/me/blocklist/accounts')).data.map(
        (block) => block.blockedAccount.name,
      )
    await leave(fred.account)
    expect(await blocked()).toEqual([`fred${serial}`])
    expect((await local.client.raw(`/api/v1/accounts/${handle}`)).status).toBe(404)

    await local.deliver(fred.account, far.activity(fred.account, 'Like', video.url))
    expect((await local.client.raw(`/api/v1/accounts/${handle}`)).status).toBe(200)
    expect(await blocked()).toEqual([`fred${serial}`])

    await leave(fred.account)
    await local.client.send('DELETE', `/api/v1/users/me/blocklist/accounts/${handle}`)
    await local.node.restart()
    await until(async () => (await known(fred.account)) === 0, { what: 'the end of the tombstone' })
  })
})

describe('a removed remote channel', () => {
  it('leaves its account, with its comments', async () => {
    const { id } = await said(fred, far, video.url)
    await leave(fred.channel)
    expect([await known(fred.account), await known(fred.channel)]).toEqual([1, 0])
    expect(await local.query('select text, deleted_at from comment where id = $1', [id])).toEqual([{ text: 'Well said', deleted_at: null }])
  })
})

describe('the job that removes an actor', () => {
  it('is created again when it was lost', async () => {
    await said(fred, far, video.url)
    // The state after a process was killed after the Delete, and its jobs were lost.
    await local.query("update actor set deleted_at = now(), remote_state = 'leaving' where url = $1", [fred.account.url])
    await local.node.restart()
    await until(async () => (await known(fred.account)) === 0, { what: 'the end of the actor' })
    expect(await counts()).toEqual({ comments: 0, likes: 0, dislikes: 0 })
  })

  it('refuses objects that are added at the last moment', async () => {
    const [account] = await local.query<{ id: number }>('select a.id from account a join actor x on x.id = a.actor_id where x.url = $1', [
      fred.account.url,
    ])
    const [gate, writer] = await Promise.all([connected(), connected()])
    const waits = (what: string) =>
      until(
        async () => (await local.query("select 1 from pg_stat_activity where query like $1 and wait_event_type = 'Lock'", [`${what}%`]))[0],
        { what },
      )
    try {
      await gate.query('select pg_advisory_lock(1)')
      await local.query(
        `create function wait_at_the_end() returns trigger language plpgsql as
         $$ begin perform pg_advisory_xact_lock_shared(1); return new; end $$`,
      )
      await local.query(
        `create trigger wait_at_the_end before update on actor for each row
         when (new.remote_state = 'left' and new.url = '${fred.account.url}') execute function wait_at_the_end()`,
      )
      const left = leave(fred.account)
      await waits('update actor set remote_state')
      await writer.query('begin')
      const added = writer
        .query(
          `insert into comment (url, video_id, account_id, text, created_at, updated_at)
           values ($1, $2, $3, 'At the last moment', now(), now())`,
          [`${far.base}/last/${serial}`, video.id, account?.id],
        )
        .then(
          () => 'added',
          (error: { code?: string }) => error.code,
        )
      await waits('insert into comment')
      await gate.query('select pg_advisory_unlock(1)')
      expect(await added).toBe('23503')
      await writer.query('rollback')
      await left
      expect(await known(fred.account)).toBe(0)
    } finally {
      await Promise.all([gate.end(), writer.end()])
      await local.query('drop function if exists wait_at_the_end cascade')
    }
  })
})

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: local.node.databaseUrl })
  await client.connect()
  return client
}
