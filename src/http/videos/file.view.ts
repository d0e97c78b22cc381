// Files and HLS playlists of a video, with their addresses here or at their origin.

import { z } from 'zod'
import {
  fileStorages,
  hasPrivateFiles,
  type Openness,
  type PlaylistRow,
  resolutionLabel,
  type SourceRow,
  type VideoFileRow,
} from '../../actors/video/index.ts'
import type { Here } from './actor.view.ts'
import { withFileToken } from './address-token.ts'
import { addressOf } from './file-address.ts'

export const fileView = z
  .object({
    id: z.int(),
    resolution: z.object({ id: z.int(), label: z.string() }),
    width: z.int().nullable(),
    height: z.int().nullable(),
    magnetUri: z.string().nullable(),
    size: z.int(),
    fps: z.int(),
    torrentUrl: z.string().nullable(),
    torrentDownloadUrl: z.string().nullable(),
    fileUrl: z.string(),
    fileDownloadUrl: z.string(),
    metadataUrl: z.string(),
    hasAudio: z.boolean(),
    hasVideo: z.boolean(),
    storage: z.int().nullable().meta({ description: 'Null for a file of another server.' }),
  })
  .meta({ id: 'VideoFile' })

export const playlistView = z
  .object({
    id: z.int(),
    type: z.int(),
    playlistUrl: z.string(),
    segmentsSha256Url: z.string().nullable(),
    redundancies: z.array(z.object({ baseUrl: z.string() })),
    files: z.array(fileView),
  })
  .meta({ id: 'VideoStreamingPlaylist' })

export const sourceView = z
  .object({
    filename: z.string(),
    inputFilename: z.string(),
    fileDownloadUrl: z.string().nullable(),
    resolution: z.object({ id: z.int(), label: z.string() }),
    size: z.int(),
    width: z.int().nullable(),
    height: z.int().nullable(),
    fps: z.int().nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'VideoSource' })

/** The properties of a video that the addresses of its files depend on. */
export interface FilesOwner extends Openness {
  uuid: string
  remote: boolean
  files?: VideoFileRow[]
  playlist?: PlaylistRow | null
}

const AUDIO = 2
const VIDEO = 1

/** `token`: of the video's files, for the addresses of torrents. */
export function toFileViews(video: FilesOwner, here: Here, token: string | undefined) {
  const files = video.files ?? []
  const { playlist } = video
  const master = playlist ? playlistUrl(video, playlist, here) : undefined
  return {
    streamingPlaylists:
      playlist && master
        ? [
            {
              id: playlist.id,
              type: playlist.type,
              playlistUrl: master,
              segmentsSha256Url:
                playlist.segments_sha256_url ?? hlsUrl(video, playlist.segments_sha256_filename, playlist.storage, here) ?? null,
              redundancies: playlist.mirrors.map((baseUrl) => ({ baseUrl })),
              files: toFiles(
                video,
                files.filter((file) => file.streaming_playlist_id !== null),
                here,
                token,
              ),
            },
          ]
        : [],
    files: toFiles(
      video,
      files.filter((file) => file.streaming_playlist_id === null),
      here,
      token,
    ),
  }
}

/** Address of the master playlist for players. */
export const playlistUrl = (video: FilesOwner, playlist: PlaylistRow, here: Here): string | undefined =>
  playlist.playlist_url ?? hlsUrl(video, playlist.playlist_filename, storageOfPlaylist(video, playlist), here)

/** Address of a file for players; undefined if no playlist or file names it. */
export function fileUrl(video: FilesOwner, file: VideoFileRow, here: Here): string | undefined {
  if (file.file_url !== null) return file.file_url
  if (file.filename === null || video.remote) return undefined
  if (file.streaming_playlist_id !== null) return hlsUrl(video, file.filename, file.storage, here)
  const name = `${hasPrivateFiles(video) ? 'private/' : ''}${file.filename}`
  return addressOf(here, { kind: 'web_videos', name, storage: file.storage })
}

function hlsUrl(video: FilesOwner, filename: string | null, storage: number, here: Here): string | undefined {
  if (filename === null || video.remote) return undefined
  const name = `hls/${hasPrivateFiles(video) ? 'private/' : ''}${video.uuid}/${filename}`
  return addressOf(here, { kind: 'streaming_playlists', name, storage })
}

/** A playlist names files in its folder: while some of them are elsewhere, this server serves it and redirects readers. */
const storageOfPlaylist = ({ files = [] }: FilesOwner, { storage }: PlaylistRow): number =>
  files.every((file) => file.streaming_playlist_id === null || file.storage === storage) ? storage : fileStorages.fileSystem

/** Torrent clients read the copies of a web video as well. */
const magnetOf = ({ magnet_url, mirrors }: VideoFileRow): string | null =>
  magnet_url && [magnet_url, ...(mirrors ?? []).map((url) => `ws=${encodeURIComponent(url)}`)].join('&')

/** The labels of files of the same height contain their frame rates or kinds. */
function toFiles(video: FilesOwner, rows: VideoFileRow[], here: Here, token: string | undefined) {
  const byHeight = Map.groupBy(rows, ({ resolution }) => resolution)
  return rows.flatMap((row) => {
    const same = byHeight.get(row.resolution) ?? []
    const differ = (of: (other: VideoFileRow) => unknown) => new Set(same.map(of)).size > 1
    const rate = differ(({ fps }) => fps) && row.fps > 0 ? String(row.fps) : ''
    const kind = differ(({ extname }) => extname) ? ` (${row.extname.slice(1)})` : ''
    return toFile(video, row, here, token).map((file) => ({
      ...file,
      resolution: { ...file.resolution, label: `${file.resolution.label}${rate}${kind}` },
    }))
  })
}

function toFile(video: FilesOwner, file: VideoFileRow, here: Here, token: string | undefined): z.infer<typeof fileView>[] {
  const url = fileUrl(video, file, here)
  if (url === undefined) return []
  const { origin } = here
  const torrentAt = (folder: string): string | null =>
    file.torrent_filename ? withFileToken(`${origin}/${folder}/torrents/${file.torrent_filename}`, token) : file.torrent_url
  return [
    {
      id: file.id,
      resolution: { id: file.resolution, label: resolutionLabel(file.resolution) },
      width: file.width,
      height: file.height,
      magnetUri: magnetOf(file),
      size: file.size,
      fps: file.fps,
      torrentUrl: torrentAt('lazy-static'),
      torrentDownloadUrl: torrentAt('download'),
      fileUrl: url,
      fileDownloadUrl: video.remote ? url : `${origin}/download/${downloadPath(video, file)}`,
      metadataUrl: file.metadata_url ?? `${origin}/api/v1/videos/${video.uuid}/metadata/${file.id}`,
      hasAudio: (file.streams & AUDIO) !== 0,
      hasVideo: (file.streams & VIDEO) !== 0,
      storage: video.remote ? null : file.storage,
    },
  ]
}

function downloadPath({ uuid }: FilesOwner, file: VideoFileRow): string {
  if (file.streaming_playlist_id === null) return `web-videos/${uuid}-${file.resolution}${file.extname}`
  return `streaming-playlists/hls/videos/${uuid}-${file.resolution}-fragmented${file.extname}`
}

/** The uploaded file; its download is offered only if it is retained. */
export function toSourceView(row: SourceRow, here: Here): z.infer<typeof sourceView> {
  const { resolution } = row
  return {
    filename: row.input_filename,
    inputFilename: row.input_filename,
    fileDownloadUrl: row.kept_filename && `${here.origin}/download/original-video-files/${row.kept_filename}`,
    resolution: { id: resolution ?? 0, label: resolutionLabel(resolution ?? 0) },
    size: row.size,
    width: row.width,
    height: row.height,
    fps: row.fps,
    metadata: row.metadata,
    createdAt: new Date(row.created_at).toISOString(),
  }
}
