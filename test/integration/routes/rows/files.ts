// Files of videos, and pictures.

import { newUuid } from '../../../../src/platform/ids.ts'
import type { RouteFixtures } from '../fixtures.ts'
import { everybody, ownerOrStaff, row, visitors } from '../row.ts'

const webVideo = (isPrivate: boolean) => async (fixtures: RouteFixtures) => ({
  params: { filename: (await fixtures.videoWithFiles({ isPrivate })).webVideo.filename },
})

const hls = (isPrivate: boolean) => async (fixtures: RouteFixtures) => {
  const { uuid, hls } = await fixtures.videoWithFiles({ isPrivate })
  return { params: { uuid, filename: hls.fragmented } }
}

const mirrored = async ({ store }: RouteFixtures) => {
  const uuid = newUuid()
  await store.put({ kind: 'redundancy', name: `hls/${uuid}/240.mp4` }, Buffer.from('a copy'))
  return { params: { uuid, filename: '240.mp4' } }
}
const mirroredFile = async ({ store }: RouteFixtures) => {
  const filename = `${newUuid()}-240.mp4`
  await store.put({ kind: 'redundancy', name: filename }, Buffer.from('a copy'))
  return { params: { filename } }
}

const avatar = async (fixtures: RouteFixtures) => ({ params: { filename: await fixtures.picture('avatars') } })

/** The thumbnail or the preview of a video. */
const picture = (kind: 'thumbnails' | 'previews', privacy: number) => async (fixtures: RouteFixtures) => {
  const video = await fixtures.video({ privacy })
  const filename = kind === 'thumbnails' ? video.thumbnail : video.preview
  await fixtures.store.put({ kind, name: filename }, Buffer.from('a picture'))
  return { params: { filename } }
}

const download = (isPrivate: boolean, hls: boolean) => async (fixtures: RouteFixtures) => {
  const { uuid } = await fixtures.videoWithFiles({ isPrivate })
  return { params: { filename: `${uuid}-240${hls ? '-fragmented' : ''}.mp4` } }
}

const generated = (isPrivate: boolean) => async (fixtures: RouteFixtures) => {
  const { uuid, webVideo } = await fixtures.videoWithFiles({ isPrivate })
  return { params: { videoId: uuid }, query: { videoFileIds: String(webVideo.id) } }
}

const keptUpload = async (fixtures: RouteFixtures) => {
  const { id } = await fixtures.videoWithFiles({ isPrivate: false })
  const filename = `${newUuid()}.mp4`
  await fixtures.store.put({ kind: 'original_video_files', name: filename }, Buffer.from('an upload'))
  await fixtures.db.query("insert into video_source (video_id, input_filename, kept_filename, size) values ($1, 'small.mp4', $2, 9)", [
    id,
    filename,
  ])
  return { params: { filename } }
}

const torrent = (isPrivate: boolean) => async (fixtures: RouteFixtures) => {
  const { webVideo } = await fixtures.videoWithFiles({ isPrivate })
  const filename = await fixtures.picture('torrents')
  await fixtures.db.query('update video_file set torrent_filename = $2 where id = $1', [webVideo.id, filename])
  return { params: { filename } }
}

// A visitor is refused with 403 instead of 401: players cannot log in.
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

  row('GET /download/web-videos/:filename', visitors(200), download(false, false), 'of an open video'),
  row('GET /download/web-videos/:filename', allowed, download(true, false), 'of a private video'),
  row('GET /download/streaming-playlists/hls/videos/:filename', visitors(200), download(false, true), 'of an open video'),
  row('GET /download/streaming-playlists/hls/videos/:filename', allowed, download(true, true), 'of a private video'),
  row('GET /download/original-video-files/:filename', allowed, keptUpload),
  row('GET /download/torrents/:filename', visitors(200), torrent(false), 'of an open video'),
  row('GET /download/torrents/:filename', ownerOrStaff(200), torrent(true), 'of a private video'),
  row('GET /download/videos/generate/:videoId', visitors(200), generated(false), 'of an open video'),
  row('GET /download/videos/generate/:videoId', allowed, generated(true), 'of a private video'),

  row('GET /lazy-static/thumbnails/:filename', visitors(200), picture('thumbnails', 1), 'of an open video'),
  row('GET /lazy-static/thumbnails/:filename', ownerOrStaff(200), picture('thumbnails', 3), 'of a private video'),
  row('GET /lazy-static/previews/:filename', visitors(200), picture('previews', 1), 'of an open video'),
  row('GET /lazy-static/previews/:filename', ownerOrStaff(200), picture('previews', 3), 'of a private video'),
  row('GET /lazy-static/avatars/:filename', everybody(200), avatar),
  row('GET /lazy-static/banners/:filename', everybody(200), avatar),
  row('GET /lazy-static/torrents/:filename', visitors(200), torrent(false), 'of an open video'),
  row('GET /lazy-static/torrents/:filename', ownerOrStaff(200), torrent(true), 'of a private video'),

  row('GET /tracker/announce', everybody(200)),
  row('GET /tracker/scrape', everybody(200)),
  row('GET /tracker/socket', everybody(400)),

  row('GET /socket.io/', everybody(400)),
  row('POST /socket.io/', everybody(400)),
]
