import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { JsonObject } from '../../../src/federation/wire/index.ts'
import { makeVideo } from '../../support/builders.ts'
import { oracleProblems } from '../../support/peertube-oracle.ts'
import { PUBLIC_PEM, recordedObject } from '../../unit/federation/recordings.ts'
import { fromMultikey } from './multikey.ts'
import { ORIGIN, type ReadServer, startReadServer, WHEN } from './read-server.ts'
import { insertRecordedVideo } from './recorded-rows.ts'

let server: ReadServer
let videoId: number
const VIDEO = '/videos/watch/00000000-0000-4000-8000-000000000021'

beforeAll(async () => {
  server = await startReadServer()
  videoId = await insertRecordedVideo(server, 'video-public', 1)
})
afterAll(() => server.stop())

/** The terms of the recorded context, and additional ones. */
function contextsFit(local: JsonObject, recorded: JsonObject): void {
  const list = (document: JsonObject) => document['@context'] as unknown[]
  expect(list(local)).toMatchObject(list(recorded))
}

/** Expects all recorded keys with their values. */
function expectRecorded(local: JsonObject, recorded: JsonObject, except: string[] = []): void {
  const rest = (document: JsonObject) =>
    Object.fromEntries(Object.entries(document).filter(([key]) => key !== '@context' && !except.includes(key)))
  contextsFit(local, recorded)
  expect(rest(local)).toMatchObject(rest(recorded))
}

describe('the document of an actor', () => {
  it('has the members of the recorded account', async () => {
    const { db, user, insert } = server
    await db.query("update account set name = 'Object User', description = 'about' where id = $1", [user.accountId])
    const sizes = [1500, 48, 600, 120]
    for (const [index, width] of sizes.entries()) {
      const number = { 48: 1, 120: 2, 600: 3, 1500: 4 }[width] ?? index
      await insert('actor_image', {
        actor_id: user.actorId,
        type: 1,
        width,
        height: width,
        on_disk: true,
        filename: `00000000-0000-4000-8000-00000000000${number}.png`,
      })
    }
    const local = await server.document('/accounts/obj_user')
    expectRecorded({ ...local, publicKey: withPem(local) }, recordedObject('account'))
    expect(oracleProblems(local)).toEqual([])
  })

  it('has the members of the recorded channel, with its account', async () => {
    const { db, user, insert } = server
    await db.query("update channel set name = 'Object channel', description = 'about', support = 'sup' where id = $1", [user.channelId])
    for (const [number, width, height] of [
      [5, 600, 100],
      [6, 1920, 317],
    ] as const) {
      await insert('actor_image', {
        actor_id: user.channelActorId,
        type: 2,
        width,
        height,
        on_disk: true,
        filename: `00000000-0000-4000-8000-00000000000${number}.jpg`,
      })
    }
    const local = await server.document('/video-channels/obj_user_channel')
    expectRecorded({ ...local, publicKey: withPem(local) }, recordedObject('channel'))
    expect(oracleProblems(local)).toEqual([])
  })

  it('is an Application for the instance', async () => {
    const local = await server.document('/accounts/peertube')
    // The reference names every instance peertube; this server uses the configured name.
    expectRecorded({ ...local, publicKey: withPem(local) }, recordedObject('instance-actor'), ['name', 'summary'])
    expect(local).toMatchObject({ name: 'Vireo', summary: 'A video server of the federated web.' })
  })

  it('has its Ed25519 key, its handle and its consent to discovery', async () => {
    const local = await server.document('/accounts/obj_user')
    const id = `${ORIGIN}/accounts/obj_user`
    expect(local).toMatchObject({ webfinger: 'obj_user@peer.example', indexable: true, discoverable: true })
    const [key] = local.assertionMethod as [JsonObject]
    expect(key).toMatchObject({ id: `${id}#ed25519-key`, type: 'Multikey', controller: id })
    expect(await fromMultikey(String(key.publicKeyMultibase))).toBe('Ed25519')
  })

  it('says of the instance whether it approves followers manually', async () => {
    const other = await startReadServer({ followers: { instance: { manual_approval: true } } })
    try {
      expect(await other.document('/accounts/peertube')).toMatchObject({ manuallyApprovesFollowers: true })
      expect(await other.document('/accounts/obj_user')).not.toHaveProperty('manuallyApprovesFollowers')
    } finally {
      await other.stop()
    }
  })

  const withPem = (document: JsonObject) => {
    const key = document.publicKey as JsonObject
    expect(key.publicKeyPem).toBe(server.pem)
    return { ...key, publicKeyPem: `${PUBLIC_PEM}\n` }
  }
})

describe('the document of a video', () => {
  it('has the members of the recorded video', async () => {
    // It was recorded without TLS.
    const recorded = JSON.parse(JSON.stringify(recordedObject('video-public')).replaceAll('"ws://', '"wss://'))
    const local = await server.document(VIDEO)
    expectRecorded(local, recorded)
    expect((local.url as unknown[]).length).toBe((recorded.url as unknown[]).length)
    expect(oracleProblems(local)).toEqual([])
  })

  it('has no key that the recorded one lacks', async () => {
    const recorded = Object.keys(recordedObject('video-public'))
    expect(Object.keys(await server.document(VIDEO)).filter((key) => !recorded.includes(key))).toEqual([])
  })

  it('has no recipients when the video is unlisted', async () => {
    await insertRecordedVideo(server, 'video-unlisted', 2)
    const local = await server.document('/videos/watch/00000000-0000-4000-8000-000000000010')
    expectRecorded(local, recordedObject('video-unlisted'), ['url'])
    expect(local).toMatchObject({ to: [], cc: [] })
  })

  it.each(['video-live', 'video-live-streaming'])('of a live has the terms of %s', async (name) => {
    const recorded = recordedObject(name)
    await insertRecordedVideo(server, name, 1)
    const local = await server.document(`/videos/watch/${String(recorded.uuid)}`)
    // The state comes from the machine.
    expectRecorded(local, recorded, ['url', 'state', 'to', 'cc', 'attributedTo'])
    expect(oracleProblems(local)).toEqual([])
  })

  it('has its chapters at a separate URL', async () => {
    for (const [timecode, title] of [
      [0, 'one'],
      [3, 'two'],
    ]) {
      await server.insert('video_chapter', { video_id: videoId, timecode, title })
    }
    const { '@context': context, ...local } = await server.document(`${VIDEO}/chapters`)
    const { '@context': recordedContext, ...recorded } = recordedObject('video-chapters')
    expect(local).toEqual(recorded)
    expect(context).toEqual(recordedContext)
  })

  it('includes views that are not folded yet', async () => {
    const made = await makeVideo(server.db, { channelId: server.user.channelId, columns: { views: 40 } })
    await server.insert('video_delta', { video_id: made.id, views: 2 })
    expect(await server.document(`/videos/watch/${made.uuid}`)).toMatchObject({ views: 42 })
  })

  it('contains no private folders, since private videos have no public document', async () => {
    expect(JSON.stringify(await server.document(VIDEO))).not.toContain('/private/')
  })

  it('has the height of portrait videos in displayed pixels', async () => {
    const made = await makeVideo(server.db, {
      channelId: server.user.channelId,
      webVideo: { resolution: 240 },
    })
    await server.db.query('update video_file set width = 240, height = 427 where video_id = $1', [made.id])
    const { url } = await server.document(`/videos/watch/${made.uuid}`)
    expect((url as JsonObject[])[1]).toMatchObject({ width: 240, height: 427 })
  })

  it('is the object of the Create at its activity URL', async () => {
    const create = await server.document(`${VIDEO}/activity`)
    expect(create).toMatchObject({
      type: 'Create',
      id: `${ORIGIN}${VIDEO}/activity`,
      actor: `${ORIGIN}/accounts/obj_user`,
      to: ['https://www.w3.org/ns/activitystreams#Public'],
      cc: [`${ORIGIN}/accounts/obj_user/followers`],
    })
    const { '@context': context, ...video } = await server.document(VIDEO)
    expect(create.object).toEqual(video)
    expect(create['@context']).toEqual(context)
    expect(oracleProblems(create)).toEqual([])
  })
})

/** A recorded Note in the form of this server: HTML, with Markdown as its source, and all mentioned actors in cc. */
const asHtml = (note: JsonObject): JsonObject => ({
  ...note,
  content: `<p>${note.content}</p>`,
  mediaType: 'text/html',
  source: { content: note.content, mediaType: 'text/markdown' },
  cc: [...(note.cc as string[]), ...(note.tag as { href: string }[]).map(({ href }) => href)],
})

describe('the documents of comments', () => {
  const stamps = { created_at: WHEN, updated_at: WHEN }
  const url = (id: number) => `${ORIGIN}${VIDEO}/comments/${id}`

  beforeAll(async () => {
    const { insert, user, second } = server
    const row = (id: number, accountId: number, text: string) => ({
      id,
      video_id: videoId,
      account_id: accountId,
      url: url(id),
      text,
      ...stamps,
    })
    await insert('comment', row(1, second.accountId, 'thread'))
    await insert('comment', { ...row(2, user.accountId, 'reply'), thread_id: 1, parent_id: 1 })
    await insert('comment', { ...row(3, second.accountId, ''), deleted_at: WHEN })
    await insert('comment', { ...row(4, second.accountId, 'wait'), held_for_review: true })
    await insert('comment', { ...row(5, second.accountId, 'deep'), thread_id: 1, parent_id: 2 })
  })

  it.each([
    [1, 'comment-thread'],
    [2, 'comment-reply'],
  ])('comment %i is as recorded, with its replies collection', async (id, name) => {
    const replies = `${url(id)}/replies`
    expect(await server.document(`${VIDEO}/comments/${id}`)).toEqual({ ...asHtml(recordedObject(name)), replies })
  })

  it('a deleted comment is as recorded', async () => {
    expect(await server.document(`${VIDEO}/comments/3`)).toEqual(recordedObject('comment-deleted-tombstone'))
  })

  it('the replies of a comment are a collection, without pending ones', async () => {
    const id = `${url(1)}/replies`
    expect(await server.document(`${VIDEO}/comments/1/replies`)).toMatchObject({
      type: 'OrderedCollection',
      id,
      totalItems: 1,
      first: `${id}?page=1`,
    })
    expect(await server.document(`${VIDEO}/comments/1/replies?page=1`)).toMatchObject({
      type: 'OrderedCollectionPage',
      partOf: id,
      totalItems: 1,
      orderedItems: [url(2)],
    })
    expect(await server.document(`${VIDEO}/comments/5/replies?page=1`)).toMatchObject({ orderedItems: [] })
    await expect(server.document(`${VIDEO}/comments/4/replies`)).rejects.toThrow()
  })

  it('the Create of a comment is as recorded', async () => {
    const recorded = recordedObject('comment-thread-activity')
    expect(await server.document(`${VIDEO}/comments/1/activity`)).toEqual({
      ...recorded,
      object: { ...asHtml(recorded.object as JsonObject), replies: `${url(1)}/replies` },
    })
  })

  it('are accepted by the reference', async () => {
    for (const id of [1, 2, 3]) expect(oracleProblems(await server.document(`${VIDEO}/comments/${id}`))).toEqual([])
  })

  it('mention all authors above, none twice, and not the author', async () => {
    const { tag } = await server.document(`${VIDEO}/comments/5`)
    expect(tag).toEqual([{ type: 'Mention', href: `${ORIGIN}/accounts/obj_user`, name: '@obj_user@peer.example' }])
  })

  it.each([
    ['unknown', `${VIDEO}/comments/424242`],
    ['held for review', `${VIDEO}/comments/4`],
    ['held for review, as its Create', `${VIDEO}/comments/4/activity`],
    ['deleted, as its Create', `${VIDEO}/comments/3/activity`],
    ['too large an id', `${VIDEO}/comments/99999999999`],
  ])('a comment that is %s is not found', async (_what, path) => {
    await expect(server.read(path)).rejects.toMatchObject({
      kind: 'not_found',
      message: 'Video comment thread not found',
    })
  })

  it('a comment of another video is not found under this one', async () => {
    const made = await makeVideo(server.db, { channelId: server.user.channelId })
    await expect(server.read(`/videos/watch/${made.uuid}/comments/1`)).rejects.toMatchObject({ kind: 'not_found' })
  })
})

describe('ratings and shares', () => {
  it('are as recorded', async () => {
    const { insert, user, second, instanceId } = server
    const rating = (accountId: number, type: string, name: string) => ({
      video_id: videoId,
      account_id: accountId,
      type,
      url: `${ORIGIN}/accounts/${name}/${type}s/1`,
    })
    await insert('rating', rating(second.accountId, 'like', 'obj_second'))
    await insert('rating', rating(user.accountId, 'dislike', 'obj_user'))
    const share = (actorId: number, number: number) => ({
      video_id: videoId,
      actor_id: actorId,
      url: `${ORIGIN}${VIDEO}/announces/${number}`,
    })
    await insert('share', share(user.channelActorId, user.channelActorId))
    await insert('share', share(instanceId, instanceId))

    expect(await server.document('/accounts/obj_second/likes/1')).toEqual(recordedObject('like'))
    expect(await server.document('/accounts/obj_user/dislikes/1')).toMatchObject({
      type: 'Dislike',
      actor: `${ORIGIN}/accounts/obj_user`,
      object: `${ORIGIN}${VIDEO}`,
    })
    const announce = await server.document(`${VIDEO}/announces/${user.channelActorId}`)
    expect(announce).toMatchObject({
      type: 'Announce',
      actor: `${ORIGIN}/video-channels/obj_user_channel`,
      object: `${ORIGIN}${VIDEO}`,
      to: ['https://www.w3.org/ns/activitystreams#Public'],
    })
    expect(oracleProblems(announce)).toEqual([])
  })

  it.each([
    ['/accounts/obj_second/likes/424242', 'Account video rate not found'],
    [`${VIDEO}/announces/424242`, 'Video share not found'],
  ])('%s is not found', async (path, message) => {
    await expect(server.read(path)).rejects.toMatchObject({ kind: 'not_found', message })
  })
})
