// Lives on nodes that federate.

import type { Values } from '../../src/config/layers.ts'
import type { FederatedNode } from './support.ts'

/** Short segments, and no time to reconnect. */
export const LIVE_CONFIG: Values = { live: { enabled: true }, vireo: { live: { segment_duration: '1 second', reconnect_window: 0 } } }

export interface TestLive {
  id: number
  uuid: string
  url: string
  /** Its stream key. */
  key: string
}

/** A live of root, public unless `fields` say otherwise. */
export async function createLive({ client, base }: FederatedNode, fields: object = {}): Promise<TestLive> {
  const me = await client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const requested = { channelId: me.videoChannels[0]?.id, name: 'A live', privacy: 1, ...fields }
  const { video } = await client.send<{ video: { id: number; uuid: string } }>('POST', '/api/v1/videos/live', requested)
  const { streamKey } = await client.get<{ streamKey: string }>(`/api/v1/videos/live/${video.id}`)
  return { ...video, url: `${base}/videos/watch/${video.uuid}`, key: streamKey }
}

export const liveAddress = ({ node }: FederatedNode, key: string) => `rtmp://127.0.0.1:${node.server.live.rtmp}/live/${key}`
