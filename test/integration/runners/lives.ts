// Lives encoded by runners.

import type { Values } from '../../../src/config/layers.ts'
import type { RunnerHarness } from './harness.ts'

export const LIVE_TYPE = 'live-rtmp-hls-transcoding'

export interface Live {
  id: number
  uuid: string
  key: string
}

export const liveConfig = ({
  port,
  resolutions,
  runners = {},
}: {
  port: number
  resolutions: Record<string, boolean>
  runners?: Values
}): Values => ({
  transcoding: { enabled: false, remote_runners: { enabled: false } },
  live: { enabled: true, allow_replay: true, rtmp: { port }, transcoding: { remote_runners: { enabled: true }, resolutions } },
  remote_runners: { stalled_jobs: { live: '10 minutes' } },
  vireo: { runners, live: { segments_in_playlist: 200, segment_duration: '1 second', reconnect_window: 0, cleanup_delay: '1 hour' } },
})

export async function createLive({ admin }: RunnerHarness, fields: object = {}): Promise<Live> {
  const { videoChannels } = await admin.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const body = { channelId: videoChannels[0]?.id, name: 'A live', privacy: 1, ...fields }
  const { video } = await admin.send<{ video: { id: number; uuid: string } }>('POST', '/api/v1/videos/live', body)
  const { streamKey } = await admin.get<{ streamKey: string }>(`/api/v1/videos/live/${video.id}`)
  return { ...video, key: streamKey }
}

export const addressOf = ({ node }: RunnerHarness, { uuid }: Live, name: string) =>
  `${node.base}/static/streaming-playlists/hls/${uuid}/${name}`

export const textOfLive = async (world: RunnerHarness, live: Live, name: string) => await (await fetch(addressOf(world, live, name))).text()

export const namesIn = (playlist: string) => playlist.split('\n').filter((line) => line.endsWith('.ts'))
