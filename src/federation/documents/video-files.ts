// The files of a local video, as links of its document.

import { trackersOf } from '../../actors/torrent/index.ts'
import type { StreamingPlaylist, VideoFile } from '../../actors/video/index.ts'
import type { Columns } from '../../platform/database/index.ts'
import type { Urls } from '../urls.ts'
import type { HlsDocument, TrackerDocument, VideoFileDocument } from '../wire/index.ts'
import { videoType } from './media-types.ts'

export type FileRow = Columns<typeof VideoFile, 'id' | 'streamingPlaylistId' | 'resolution' | 'width' | 'height' | 'size' | 'extname'> &
  Columns<typeof VideoFile, 'fps' | 'filename' | 'fileUrl' | 'metadataUrl' | 'torrentFilename' | 'torrentUrl' | 'magnetUrl'> &
  Columns<typeof VideoFile, 'storage' | 'formatFlags' | 'streams'>

export interface PlaylistRow
  extends Columns<typeof StreamingPlaylist, 'id' | 'playlistFilename' | 'playlistUrl' | 'storage'>,
    Columns<typeof StreamingPlaylist, 'segmentsSha256Filename' | 'segmentsSha256Url'> {
  info_hashes: string[]
}

export interface VideoFiles {
  uuid: string
  /** `private/` for videos that are not public, otherwise empty. */
  folder: string
  urls: Pick<Urls, 'origin' | 'objectAddress'>
  files: FileRow[]
  playlist: PlaylistRow | null
}

/** Web videos and HLS playlists, the largest rendition first. */
export function linksOf(video: VideoFiles): { files: VideoFileDocument[]; playlists: HlsDocument[] } {
  const { files, playlist } = video
  const documentsOf = (rows: FileRow[]) => rows.flatMap((row) => fileOf(row, video))
  return {
    files: documentsOf(files.filter((row) => row.streaming_playlist_id === null)),
    playlists: playlist ? playlistOf(playlist, documentsOf(files.filter(({ streaming_playlist_id: id }) => id))) : [],
  }

  function playlistOf(row: PlaylistRow, renditions: VideoFileDocument[]): HlsDocument[] {
    const url = row.playlist_url ?? hlsUrl(video, row.playlist_filename, storageOfPlaylist(video, row))
    if (url === null) return []
    const segmentsSha256Url = row.segments_sha256_url ?? hlsUrl(video, row.segments_sha256_filename, row.storage)
    return [{ url, infohashes: row.info_hashes, segmentsSha256Url, files: renditions }]
  }
}

export function trackerLinks(origin: string): TrackerDocument[] {
  const { http, webSocket } = trackersOf(origin)
  return [
    { name: 'tracker-http', kind: 'http', url: http },
    { name: 'tracker-websocket', kind: 'websocket', url: webSocket },
  ]
}

const hlsUrl = ({ urls, folder, uuid }: VideoFiles, filename: string | null, storage: number): string | null =>
  filename === null ? null : addressOf(urls, 'streaming_playlists', `hls/${folder}${uuid}/${filename}`, storage)

/** A playlist names files in its folder: while some of them are elsewhere, this server redirects readers. */
const storageOfPlaylist = ({ files }: VideoFiles, { storage }: PlaylistRow): number =>
  files.every((file) => file.streaming_playlist_id === null || file.storage === storage) ? storage : 0

const FOLDERS = { web_videos: 'web-videos', streaming_playlists: 'streaming-playlists' } as const

function addressOf(urls: VideoFiles['urls'], kind: keyof typeof FOLDERS, name: string, storage: number): string {
  const atBucket = storage === 1 ? urls.objectAddress({ kind, name }) : undefined
  return atBucket ?? `${urls.origin}/static/${FOLDERS[kind]}/${name}`
}

function urlOf(row: FileRow, video: VideoFiles): string | null {
  if (row.file_url !== null) return row.file_url
  if (row.filename === null) return null
  if (row.streaming_playlist_id !== null) return hlsUrl(video, row.filename, row.storage)
  return addressOf(video.urls, 'web_videos', `${video.folder}${row.filename}`, row.storage)
}

function fileOf(row: FileRow, video: VideoFiles): VideoFileDocument[] {
  const url = urlOf(row, video)
  if (url === null) return []
  const { uuid } = video
  const { origin } = video.urls
  return [
    {
      url,
      mediaType: videoType(row.extname),
      height: row.height || row.resolution,
      width: row.width,
      sizeBytes: row.size,
      fps: row.fps,
      hasVideo: (row.streams & 1) !== 0,
      hasAudio: (row.streams & 2) !== 0,
      formats: [
        ...((row.format_flags & 1) !== 0 ? (['web-video'] as const) : []),
        ...((row.format_flags & 2) !== 0 ? (['fragmented'] as const) : []),
      ],
      metadataUrl: row.metadata_url ?? `${origin}/api/v1/videos/${uuid}/metadata/${row.id}`,
      torrentUrl: row.torrent_url ?? (row.torrent_filename && `${origin}/lazy-static/torrents/${row.torrent_filename}`),
      magnetUri: row.magnet_url,
    },
  ]
}
