// Addresses of a video's files on this server, for its document in the archive.

import type { LocalUrls } from '../../runtime/index.ts'
import type { PartItem } from '../../user-archive/index.ts'
import { fileStorages, hasPrivateFiles } from '../../video/index.ts'
import type { VideoFileRow, VideoRow } from './video-rows.ts'

type Urls = Pick<LocalUrls, 'origin' | 'objectAddress'>
type Video = Pick<VideoRow, 'uuid' | 'privacy' | 'blocked' | 'files' | 'playlist'>

const FOLDERS = { web_videos: 'web-videos', streaming_playlists: 'streaming-playlists' } as const

export function addressesOf(urls: Urls, video: Video): Required<Pick<PartItem<'videos'>, 'files' | 'streamingPlaylists'>> {
  const { playlist, files } = video
  const hidden = hasPrivateFiles(video) ? 'private/' : ''
  const addressOf = (kind: keyof typeof FOLDERS, name: string, storage: number): string => {
    const atBucket = storage === fileStorages.objectStorage ? urls.objectAddress({ kind, name }) : undefined
    return atBucket ?? `${urls.origin}/static/${FOLDERS[kind]}/${name}`
  }
  const inPlaylist = (filename: string, storage: number) =>
    addressOf('streaming_playlists', `hls/${hidden}${video.uuid}/${filename}`, storage)
  const describe = (file: VideoFileRow) => ({
    resolution: file.resolution,
    size: file.size,
    fps: file.fps,
    torrentUrl: file.torrent && `${urls.origin}/lazy-static/torrents/${file.torrent}`,
    fileUrl: file.hls ? inPlaylist(file.filename, file.storage) : addressOf('web_videos', `${hidden}${file.filename}`, file.storage),
  })
  return {
    files: files.filter(({ hls }) => !hls).map(describe),
    streamingPlaylists: playlist
      ? [
          {
            type: playlist.type,
            playlistUrl: playlist.filename && inPlaylist(playlist.filename, playlist.storage),
            segmentsSha256Url: playlist.hashes && inPlaylist(playlist.hashes, playlist.storage),
            files: files.filter(({ hls }) => hls).map(describe),
          },
        ]
      : [],
  }
}
