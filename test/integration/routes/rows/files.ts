// Files of videos, and pictures.

import { newUuid } from '../../../../src/platform/ids.ts'
import type { Cast } from '../cast.ts'
import { everybody, ownerOrStaff, row } from '../row.ts'

const webVideo = (isPrivate: boolean) => async (cast: Cast) => ({
  params: { filename: (await cast.videoWithFiles({ isPrivate })).webVideo.filename },
})

const hls = (isPrivate: boolean) => async (cast: Cast) => {
  const { uuid, hls } = await cast.videoWithFiles({ isPrivate })
  return { params: { uuid, filename: hls.fragmented } }
}

const mirrored = async ({ store }: Cast) => {
  const uuid = newUuid()
  await store.put({ kind: 'redundancy', name: `hls/${uuid}/240.mp4` }, Buffer.from('a copy'))
  return { params: { uuid, filename: '240.mp4' } }
}
const mirroredFile = async ({ store }: Cast) => {
  const filename = `${newUuid()}-240.mp4`
  await store.put({ kind: 'redundancy', name: filename }, Buffer.from('a copy'))
  return { params: { filename } }
}

const picture = (kind: Parameters<Cast['picture']>[0]) => async (cast: Cast) => ({
  params: { filename: await cast.picture(kind) },
})

// A visitor is refused here without being asked who it is: players cannot answer.
const allowed = ownerOrStaff(200, { anonymous: 403 })

export const fileRows = [
  row('GET /static/web-videos/:filename', everybody(200), webVideo(false)),
  row('GET /static/webseed/:filename', everybody(200), webVideo(false)),
  row('GET /static/web-videos/private/:filename', allowed, webVideo(true)),
  row('GET /static/webseed/private/:filename', allowed, webVideo(true)),
  row('GET /object-storage-proxy/web-videos/private/:filename', allowed, webVideo(true)),
  row('GET /object-storage-proxy/webseed/private/:filename', allowed, webVideo(true)),
  row('GET /object-storage-proxy/streaming-playlists/hls/private/:uuid/:filename', allowed, hls(true)),
  row('GET /static/streaming-playlists/hls/:uuid/:filename', everybody(200), hls(false)),
  row('GET /static/streaming-playlists/hls/private/:uuid/:filename', allowed, hls(true)),

  row('GET /static/redundancy/hls/:uuid/:filename', everybody(200), mirrored),
  row('GET /static/redundancy/:filename', everybody(200), mirroredFile),

  row('GET /lazy-static/thumbnails/:filename', everybody(200), picture('thumbnails')),
  row('GET /lazy-static/previews/:filename', everybody(200), picture('previews')),
  row('GET /lazy-static/avatars/:filename', everybody(200), picture('avatars')),
  row('GET /lazy-static/banners/:filename', everybody(200), picture('avatars')),
  row('GET /lazy-static/torrents/:filename', everybody(200), picture('torrents')),
]
