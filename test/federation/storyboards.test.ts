// Other servers get the storyboard of a video once it exists.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type FakePeer, type JsonObject, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let node: FederatedNode
let near: FakePeer

beforeAll(async () => {
  ;[node, near] = await Promise.all([startFederatedNode({ storyboards: { enabled: true } }), startFakePeer()])
  const { account } = await introduce(node, near, 'nora')
  await node.deliver(account, near.activity(account, 'Follow', `${node.base}/accounts/root`))
  await near.awaited('the answer', () => near.of('Accept').length === 1)
})
afterAll(async () => {
  await Promise.all([near?.close(), node?.stop()])
})

const previewOf = (document: unknown): JsonObject[] | undefined => (document as { preview?: JsonObject[] }).preview

it('the storyboard of a new video is sent with an Update, and is in the document that was served before', async () => {
  const { uuid, url } = await node.upload(await readFile(await media('small.mp4')))
  const document = async () => (await fetch(url, { headers: { accept: 'application/activity+json' } })).json() as Promise<JsonObject>
  await document()
  await near.awaited('the Update', () => near.of('Update').length === 1)
  const sent = previewOf(near.of('Update')[0]?.activity.object)
  expect(sent).toEqual([
    {
      type: 'Image',
      rel: ['storyboard'],
      url: [
        {
          mediaType: 'image/jpeg',
          href: expect.stringMatching(/\/lazy-static\/storyboards\/[\w-]+\.jpg$/),
          width: 384,
          height: 144,
          tileWidth: 192,
          tileHeight: 144,
          tileDuration: 'PT1S',
        },
      ],
    },
  ])
  expect(previewOf(await document())).toEqual(sent)

  const { storyboards } = await node.client.get<{ storyboards: { storyboardPath: string }[] }>(`/api/v1/videos/${uuid}/storyboards`)
  expect(storyboards).toHaveLength(1)
  const picture = await node.client.raw(storyboards[0]?.storyboardPath ?? '')
  expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/jpeg'])
  expect(JSON.stringify(sent)).toContain(storyboards[0]?.storyboardPath)
})
