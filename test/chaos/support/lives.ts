// Creates a live that is recorded, and reads its state over the API.

import { eventually as awaited, type Client } from '../../../scripts/demo/client.ts'
import { channelOf } from './videos.ts'

export type Live = { id: number; uuid: string; url: string }

interface Details {
  isLive: boolean
  state: { id: number }
  files: { fileUrl: string }[]
}

/** `rtmp`: the port of RTMP. */
export async function createLive(client: Client, rtmp: number, name: string): Promise<Live> {
  const fields = { channelId: await channelOf(client), name, privacy: 1, saveReplay: true, replaySettings: { privacy: 1 } }
  const { video } = await client.send<{ video: { id: number; uuid: string } }>('POST', '/api/v1/videos/live', fields)
  const { streamKey } = await client.get<{ streamKey: string }>(`/api/v1/videos/live/${video.id}`)
  return { ...video, url: `rtmp://127.0.0.1:${rtmp}/live/${streamKey}` }
}

export const detailsOf = (client: Client, { uuid }: Live) => client.get<Details>(`/api/v1/videos/${uuid}`)

export const untilPlays = (client: Client, live: Live) =>
  awaited('the first piece', 600_000, async () => (await detailsOf(client, live)).state.id === 1)
