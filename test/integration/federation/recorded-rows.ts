// The rows of the recorded documents, for comparison with the server's own documents.

import { readVideo, type VideoDocument } from '../../../src/federation/wire/index.ts'
import { recordedObject } from '../../unit/federation/recordings.ts'
import { type ReadServer, WHEN } from './read-server.ts'

/** Inserts the video of a recorded document; returns its id. */
export async function insertRecordedVideo(server: ReadServer, name: string, privacy: number): Promise<number> {
  const { db, user, insert } = server
  const read = readVideo(recordedObject(name))
  if (!read.ok) throw new Error(read.problem)
  const video = read.value
  const dates = { published_at: WHEN, created_at: WHEN, updated_at: WHEN }
  const id = await insert('video', {
    uuid: video.uuid,
    channel_id: user.channelId,
    url: video.id,
    name: video.name,
    privacy,
    state: 'published',
    category: video.category?.identifier ?? null,
    licence: video.licence?.identifier ?? null,
    language: video.language?.identifier ?? null,
    nsfw: video.isSensitive,
    description: video.description,
    support: video.support,
    duration: video.durationSeconds,
    wait_transcoding: video.waitTranscoding,
    aspect_ratio: video.aspectRatio,
    tags: video.tags,
    views: video.views,
    ...dates,
    originally_published_at: video.originallyPublishedAt,
    is_live: video.live !== null,
  })
  await insertParts(server, id, video)
  for (const [index, { url, width, height }] of video.thumbnails.entries()) {
    await insert('thumbnail', { video_id: id, type: index + 1, filename: lastOf(url), width, height })
  }
  for (const file of video.files) await insertFile(server, id, file, null)
  for (const playlist of video.playlists) {
    const playlistId = await insert('streaming_playlist', {
      video_id: id,
      playlist_filename: lastOf(playlist.url),
      segments_sha256_filename: lastOf(playlist.segmentsSha256Url ?? ''),
      p2p_media_loader_info_hashes: playlist.infohashes,
    })
    for (const file of playlist.files) await insertFile(server, id, file, playlistId)
  }
  await db.query("select setval(pg_get_serial_sequence('video_file', 'id'), 1000)")
  return id
}

async function insertParts({ insert, db }: ReadServer, id: number, video: VideoDocument): Promise<void> {
  for (const { language, url, automaticallyGenerated } of video.captions) {
    await insert('video_caption', {
      video_id: id,
      language,
      filename: lastOf(url),
      automatically_generated: automaticallyGenerated,
    })
  }
  const { storyboard, live } = video
  if (storyboard) {
    await insert('storyboard', {
      video_id: id,
      filename: lastOf(storyboard.url),
      total_width: storyboard.width,
      total_height: storyboard.height,
      sprite_width: storyboard.tileWidth,
      sprite_height: storyboard.tileHeight,
      sprite_duration: storyboard.tileDuration,
    })
  }
  if (live) {
    await db.query('insert into video_live (video_id, save_replay, permanent_live, latency_mode) values ($1, $2, $3, $4)', [
      id,
      live.saveReplay,
      live.isPermanent,
      live.latencyMode,
    ])
  }
}

const lastOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1)

async function insertFile(
  { insert }: ReadServer,
  videoId: number,
  file: VideoDocument['files'][number],
  playlistId: number | null,
): Promise<void> {
  await insert('video_file', {
    id: Number(lastOf(file.metadataUrl ?? '')),
    video_id: videoId,
    streaming_playlist_id: playlistId,
    resolution: file.height,
    width: file.width,
    height: file.height,
    size: file.sizeBytes,
    extname: '.mp4',
    fps: file.fps,
    filename: lastOf(file.url),
    torrent_filename: lastOf(file.torrentUrl ?? ''),
    magnet_url: file.magnetUri,
    format_flags: playlistId === null ? 1 : 2,
    streams: 3,
  })
}
