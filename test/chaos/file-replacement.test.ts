// kill -9 at pseudo-random moments while a video's file is replaced (during the upload, the placement and the transcoding), and while a
// video is edited in the studio. The video plays throughout, with the old file or the new one.

import { setTimeout as moment } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Client, login } from '../../scripts/demo/client.ts'
import { freePort } from '../support/ports.ts'
import { eventually } from '../support/until.ts'
import { ask, type Child, dataFolder, PASSWORD, start, USERNAME } from './support/child.ts'
import { explained, findOrphans, untilSettled } from './support/orphans.ts'
import { makePeer, type Peer } from './support/peer.ts'
import { persistentReplacement, persistentUpload, Unexpected } from './support/persistent-upload.ts'
import { seededRandom } from './support/seeded-random.ts'
import { channelOf, ladderOf, makeVideo, untilWhole } from './support/videos.ts'

const ROUNDS = 4
const EDITS = 2
const CHUNKS = 4
/** Seconds; each file is one second longer than the previous one. */
const SHORTEST = 3

const random = seededRandom()
const folder = dataFolder({ prepared: true })
let options: { dataDir: string; port: number; env: Record<string, string> }
let node: Child
let client: Client
let peer: Peer

beforeAll(async () => {
  const env = { VIREO__VIDEO_FILE__UPDATE__ENABLED: 'true', VIREO__VIDEO_STUDIO__ENABLED: 'true' }
  options = { dataDir: folder.path, port: await freePort(), env }
  peer = await makePeer()
  await peer.start()
  node = await start(options)
  client = await login(node.base, USERNAME, PASSWORD)
  await peer.follows(folder.path)
})

afterAll(async () => {
  await node?.kill9({ database: true })
  await peer?.stop()
  await folder.remove()
})

it('leaves the old file or the new one, never none, and no orphans', async () => {
  const files = await Promise.all(Array.from({ length: ROUNDS + 2 }, (_, round) => makeVideo(SHORTEST + round)))
  const fileOf = (round: number): Buffer => files[round] ?? Buffer.alloc(0)
  const fields = { channelId: await channelOf(client), name: 'watched', filename: 'first.mp4', privacy: 1 }
  const first = persistentUpload({ client, bytes: fileOf(0), chunkSize: fileOf(0).length, fields })
  const { uuid } = await first.proceed()
  await untilSettled(folder.path)
  const ladder = (await ladderOf(client, uuid)) ?? []
  expect(ladder.length).toBeGreaterThanOrEqual(3)
  const newFile = (round: number) => {
    const bytes = fileOf(round)
    const chunkSize = Math.ceil(bytes.length / CHUNKS)
    return persistentReplacement({ client, bytes, chunkSize, uuid, filename: `file-${round}.mp4` })
  }
  const untilReplaced = async (round: number): Promise<void> => {
    await eventually(async () => expect(await seen(uuid)).toMatchObject({ duration: SHORTEST + round }))
    await untilWhole(client, uuid, ladder)
    await untilSettled(folder.path)
  }

  // An undisturbed run measures how long it takes.
  const uploadMs = await measured(() => newFile(1).proceed())
  const transcodingMs = await measured(() => untilReplaced(1))

  for (let round = 2; round < ROUNDS + 2; round += 1) {
    const replacement = newFile(round)
    const inUpload = round % 2 === 0
    if (!inUpload) await replacement.proceed()
    const uploading = inUpload ? replacement.proceed().catch(asLostConnection) : undefined
    await moment(random() * (inUpload ? uploadMs : transcodingMs))
    const database = round % 3 === 0
    await node.kill9({ database })
    await uploading
    // No work is running, so rows and files do not change.
    if (!database) await expectOneFile(uuid, [SHORTEST + round - 1, SHORTEST + round])
    node = await start(options)
    const shown = await seen(uuid)
    expect(shown).toMatchObject({ state: { id: 1 }, isListed: true })
    expect([SHORTEST + round - 1, SHORTEST + round]).toContain(shown.duration)
    if (replacement.made === undefined) await replacement.proceed()
    await explained(node, folder.path, () => untilReplaced(round))
  }

  const about = peer.activities.filter(({ object }) => object.includes(uuid))
  const counted = (type: string) => new Set(about.flatMap((one) => (one.type === type ? [one.id] : []))).size
  // The Create of the account, and the Announces of the channel and the instance.
  expect([counted('Create'), counted('Announce'), counted('Delete'), counted('Undo')]).toEqual([1, 2, 0, 0])
  expect(counted('Update')).toBeGreaterThanOrEqual(ROUNDS)
})

it('edits a video once, whenever the process dies', async () => {
  const { data } = await client.get<{ data: { uuid: string; duration: number }[] }>('/api/v1/videos')
  const [{ uuid, duration: before } = { uuid: '', duration: 0 }] = data
  const end = (seconds: number) => ({ tasks: [{ name: 'cut', options: { end: seconds } }] })
  const untilEdited = async (seconds: number): Promise<void> => {
    await untilSettled(folder.path)
    expect(await seen(uuid)).toMatchObject({ state: { id: 1 }, duration: seconds })
  }
  const edit = (seconds: number) => client.raw(`/api/v1/videos/${uuid}/studio/edit`, json(end(seconds)))
  const editMs = await measured(async () => {
    expect((await edit(before - 1)).status).toBe(204)
    await untilEdited(before - 1)
  })
  for (let round = 2; round < 2 + EDITS; round += 1) {
    expect((await edit(before - round)).status).toBe(204)
    await moment(random() * editMs)
    const database = round % 2 === 0
    await node.kill9({ database })
    if (!database) expect((await findOrphans(folder.path)).missing).toEqual([])
    node = await start(options)
    await explained(node, folder.path, () => untilEdited(before - round))
  }
})

const json = (body: object) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

async function seen(uuid: string) {
  const video = await client.get<{ duration: number; state: { id: number } }>(`/api/v1/videos/${uuid}`)
  const listed = (await (await fetch(`${node.base}/api/v1/videos`)).json()) as { data: { uuid: string }[] }
  return { ...video, isListed: listed.data.some((one) => one.uuid === uuid) }
}

/** Checks that every file of the rows exists, and that all have the same duration. */
async function expectOneFile(uuid: string, durations: number[]): Promise<void> {
  const [video] = await ask<{ state: string; duration: number; mixed: boolean; playlists: number; uploaded: number }>(
    folder.path,
    `select v.state, v.duration, count(distinct f.outdated) > 1 as mixed,
       count(distinct f.streaming_playlist_id)::int as playlists, count(f.id) filter (where f.provisional)::int as uploaded
     from video v left join video_file f on f.video_id = v.id where v.uuid = $1 group by v.id`,
    [uuid],
  )
  // The uploaded file plays until all renditions exist; the playlist appears with the first of them.
  const plays = video?.uploaded === 1 ? [0, 1] : [1]
  expect(video).toMatchObject({ state: 'published', mixed: false })
  expect(plays).toContain(video?.playlists)
  expect(durations).toContain(video?.duration)
  expect((await findOrphans(folder.path)).missing).toEqual([])
}

function asLostConnection(error: unknown): void {
  if (error instanceof Unexpected) throw error
}

async function measured(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}
