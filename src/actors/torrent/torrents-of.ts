// What the torrents and swarms of a local video should be, from its rows. Pure.

import { type FileRef, hlsFile, magnetOf, swarmsOfPlaylist, type TorrentFacts, webVideoFile } from '../../media/index.ts'
import { newUuid } from '../../platform/ids.ts'
import type { LocalUrls } from '../runtime/index.ts'
import { hasPrivateFiles, type Openness } from '../video/index.ts'
import { trackersOf } from './trackers.ts'

export interface TorrentVideo extends Openness {
  uuid: string
  name: string
  /** The master playlist. */
  master: string | null
  /** Whether it is read in object storage, with all that it names. */
  atBucket: boolean
  swarms: string[] | null
  files: TorrentFile[]
}

export interface TorrentFile {
  id: number
  filename: string
  isHls: boolean
  resolution: number
  extname: string
  /** Bytes. */
  size: number
  /** Unix time in seconds. */
  created: number
  torrent: string | null
  infoHash: string | null
  magnet: string | null
}

/** A torrent of a file, as its row names it. */
export interface NamedTorrent {
  filename: string
  infoHash: string
}

export const torrentRef = (name: string): FileRef => ({ kind: 'torrents', name })

/** By a new name each time: caches hold what an address answered. */
export const newTorrentRef = ({ resolution, isHls }: Pick<TorrentFile, 'resolution' | 'isHls'>): FileRef =>
  torrentRef(`${newUuid()}-${resolution}${isHls ? '-hls' : ''}.torrent`)

/** What of a video and its file a torrent says. */
type DescribedVideo = Pick<TorrentVideo, 'uuid' | 'name' | 'privacy' | 'blocked'>
type DescribedFile = Pick<TorrentFile, 'filename' | 'isHls' | 'resolution' | 'extname' | 'size' | 'created'>

export function factsOf(video: DescribedVideo, file: DescribedFile, origin: string): TorrentFacts {
  return {
    name: `${video.name} ${file.resolution}p${file.extname}`,
    size: file.size,
    createdAt: new Date(file.created * 1000),
    trackers: trackersOf(origin),
    webSeed: hasPrivateFiles(video) ? null : `${origin}${pathOf(video, file)}`,
  }
}

export const magnetUriOf = (video: DescribedVideo, file: DescribedFile, { filename, infoHash }: NamedTorrent, origin: string): string =>
  magnetOf(
    { infoHash, torrentUrl: `${origin}/lazy-static/torrents/${filename}` },
    { ...factsOf(video, file, origin), displayName: video.name },
  )

/** The files whose torrents are missing, or say what is not true any more. The magnet URI tells all that a torrent says. */
export const outdatedOf = (video: TorrentVideo, origin: string): TorrentFile[] =>
  video.files.filter(({ torrent, infoHash, magnet, ...file }) => {
    if (torrent === null || infoHash === null) return true
    return magnet !== magnetUriOf(video, file, { filename: torrent, infoHash }, origin)
  })

/** Players name swarms by the address that they read the master playlist at. */
export function swarmsOf(video: TorrentVideo, { origin, objectAddress }: Pick<LocalUrls, 'origin' | 'objectAddress'>): string[] {
  if (video.master === null) return []
  const isPrivate = hasPrivateFiles(video)
  const { name } = hlsFile(video.uuid, video.master, isPrivate)
  const atBucket = video.atBucket ? objectAddress({ kind: 'streaming_playlists', name }) : undefined
  const folder = video.atBucket && isPrivate ? 'object-storage-proxy' : 'static'
  const master = atBucket ?? `${origin}/${folder}/streaming-playlists/${name}`
  return swarmsOfPlaylist(master, video.files.filter(({ isHls }) => isHls).length)
}

/** Where the file lies, in the folder of the video's privacy first: it may be on its way from the other one. */
export const placesOf = ({ uuid, ...openness }: TorrentVideo, { filename, isHls }: TorrentFile): FileRef[] => {
  const isPrivate = hasPrivateFiles(openness)
  return [isPrivate, !isPrivate].map((hidden) => (isHls ? hlsFile(uuid, filename, hidden) : webVideoFile(filename, hidden)))
}

const pathOf = ({ uuid }: DescribedVideo, { filename, isHls }: DescribedFile): string =>
  isHls ? `/static/streaming-playlists/hls/${uuid}/${filename}` : `/static/web-videos/${filename}`
