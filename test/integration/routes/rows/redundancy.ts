// Copies of local videos on other servers, and of remote videos here.

import { newUuid } from '../../../../src/platform/ids.ts'
import { makeRemoteChannel, makeVideo } from '../../../support/builders.ts'
import type { RouteFixtures } from '../fixtures.ts'
import { administrators, row } from '../row.ts'

/** A remote video with a playlist. */
async function remoteVideo({ db }: RouteFixtures): Promise<number> {
  const { channelId, host } = await makeRemoteChannel(db, { host: `${newUuid()}.example` })
  const remoteOrigin = `https://${host}`
  const hls = { resolution: 240, playlistUrl: `${remoteOrigin}/master.m3u8` }
  return (await makeVideo(db, { channelId, remoteOrigin, hls })).id
}

/** A copy of a local video on another server. */
async function copy(fixtures: RouteFixtures): Promise<number> {
  const { db } = fixtures
  const { id, hls } = await fixtures.videoWithFiles({ isPrivate: false })
  const { host } = await makeRemoteChannel(db, { host: `${newUuid()}.example` })
  const [made] = await db.query<{ id: number }>(
    `insert into redundancy (actor_id, video_id, streaming_playlist_id, url, file_url, state, context)
     select (select a.id from actor a join remote_host h on h.id = a.host_id where h.host = $2 limit 1), $1, p.id, $3, $3,
       'announced', '{"by": "them"}' from streaming_playlist p where p.video_id = $1 returning id`,
    [id, host, `https://${host}/${hls.id}`],
  )
  return made?.id ?? 0
}

export const redundancyRows = [
  row('GET /api/v1/server/redundancy/videos', administrators(200), () => ({ query: { target: 'my-videos' } })),
  row('POST /api/v1/server/redundancy/videos', administrators(204), async (fixtures) => ({
    body: { videoId: await remoteVideo(fixtures) },
  })),
  row('DELETE /api/v1/server/redundancy/videos/:redundancyId', administrators(204), async (fixtures) => ({
    params: { redundancyId: await copy(fixtures) },
  })),
  row('PUT /api/v1/server/redundancy/:host', administrators(204), async ({ db }) => ({
    params: { host: (await makeRemoteChannel(db, { host: `${newUuid()}.example` })).host },
    body: { redundancyAllowed: true },
  })),
]
