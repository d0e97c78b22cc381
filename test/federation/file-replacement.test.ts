// A replaced or edited file of a known video is an Update for other servers: same id, new files and duration.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type FakePeer, type JsonObject, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let node: FederatedNode
let near: FakePeer

beforeAll(async () => {
  ;[node, near] = await Promise.all([
    startFederatedNode({ video_file: { update: { enabled: true } }, video_studio: { enabled: true } }),
    startFakePeer(),
  ])
  const { account } = await introduce(node, near, 'nora')
  await node.deliver(account, near.activity(account, 'Follow', `${node.base}/accounts/root`))
  await near.awaited('the answer', () => near.of('Accept').length === 1)
})
afterAll(async () => {
  await Promise.all([near?.close(), node?.stop()])
})

it('a replaced file sends one Update with its new files, and nothing else', async () => {
  const { uuid, url } = await node.upload(await readFile(await media('small.mp4')))
  await near.awaited('the Create', () => near.of('Create').length === 1)
  const before = (await (await fetch(url, { headers: { accept: 'application/activity+json' } })).json()) as JsonObject
  near.received.length = 0

  const bytes = await readFile(await media('journey.mp4'))
  const address = `${node.base}/api/v1/videos/${uuid}/source/replace-resumable`
  const { authorization } = node.client
  const opened = await fetch(address, {
    method: 'POST',
    headers: {
      authorization,
      'content-type': 'application/json',
      'x-upload-content-length': String(bytes.length),
      'x-upload-content-type': 'video/mp4',
    },
    body: JSON.stringify({ filename: 'journey.mp4' }),
  })
  const { search } = new URL(`http:${opened.headers.get('location')}`)
  const answer = await fetch(address + search, {
    method: 'PUT',
    headers: {
      authorization,
      'content-type': 'application/octet-stream',
      'content-range': `bytes 0-${bytes.length - 1}/${bytes.length}`,
    },
    body: new Uint8Array(bytes),
  })
  expect(answer.status).toBe(200)

  await near.awaited('the Update', () => near.of('Update').length === 1)
  expect(near.received.map(({ activity }) => activity.type)).toEqual(['Update'])
  const update = near.of('Update')[0]?.activity
  expect(update).toMatchObject({ object: { id: url, duration: 'PT4S', published: before.published } })
  const filesOf = (document: unknown): string[] => JSON.stringify(document).match(/[\w-]+\.mp4/g) ?? []
  const now = (await (await fetch(url, { headers: { accept: 'application/activity+json' } })).json()) as JsonObject
  expect(filesOf(update).length).toBeGreaterThan(0)
  expect(filesOf(now).some((name) => filesOf(before).includes(name))).toBe(false)
})

it('an edited video sends one Update when it plays again, and nothing else', async () => {
  const { uuid, url } = await node.upload(await readFile(await media('journey.mp4')))
  await near.awaited('the Create', () => near.of('Create').some(({ activity }) => isAbout(activity, url)))
  const before = (await (await fetch(url, { headers: { accept: 'application/activity+json' } })).json()) as JsonObject
  near.received.length = 0

  const answer = await fetch(`${node.base}/api/v1/videos/${uuid}/studio/edit`, {
    method: 'POST',
    headers: { authorization: node.client.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ tasks: [{ name: 'cut', options: { start: 1, end: 3 } }] }),
  })
  expect(answer.status).toBe(204)
  await near.awaited('the Update', () => near.of('Update').length > 0)
  const about = near.received.map(({ activity }) => activity).filter((activity) => isAbout(activity, url))
  expect(about).toEqual([
    expect.objectContaining({
      type: 'Update',
      object: expect.objectContaining({ id: url, duration: 'PT2S', state: 1, published: before.published }),
    }),
  ])
})

const isAbout = (activity: JsonObject, url: string): boolean => JSON.stringify(activity).includes(url)
