// The expected torrents and swarms of a local video, from its rows. Pure.

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
  /** True if it is read from object storage, with all its files. */
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

/** A torrent of a file, as named by its row. */
export interface NamedTorrent {
  filename: string
  infoHash: string
}

export const torrentRef = (name: string): FileRef => ({ kind: 'torrents', name })

/** A new name each time, because caches store responses by address. */
export const newTorrentRef = ({ resolution, isHls }: Pick<TorrentFile, 'resolution' | 'isHls'>): FileRef =>
  torrentRef(`${newUuid()}-${resolution}${isHls ? '-hls' : ''}.torrent`)

/** The properties of a video and its file that a torrent contains. */
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

/** The files whose torrents are missing or outdated. The magnet URI contains everything that a torrent does. */
export const outdatedOf = (video: TorrentVideo, origin: string): TorrentFile[] =>
  video.files.filter(({ torrent, infoHash, magnet, ...file }) => {
    if (torrent === null || infoHash === null) return true
    return magnet !== magnetUriOf(video, file, { filename: torrent, infoHash }, origin)
  })

/** Players name swarms by the address of the master playlist. */
export function swarmsOf(video: TorrentVideo, { origin, objectAddress }: Pick<LocalUrls, 'origin' | 'objectAddress'>): string[] {
  if (video.master === null) return []
  const isPrivate = hasPrivateFiles(video)
  const { name } = hlsFile(video.uuid, video.master, isPrivate)
  const atBucket = video.atBucket ? objectAddress({ kind: 'streaming_playlists', name }) : undefined
  const folder = video.atBucket && isPrivate ? 'object-storage-proxy' : 'static'
  const master = atBucket ?? `${origin}/${folder}/streaming-playlists/${name}`
  return swarmsOfPlaylist(master, video.files.filter(({ isHls }) => isHls).length)
}

/** Locations of the file, in the folder of the video's privacy first: it may be on its way from the other one. */
export const placesOf = ({ uuid, ...openness }: TorrentVideo, { filename, isHls }: TorrentFile): FileRef[] => {
  const isPrivate = hasPrivateFiles(openness)
  return [isPrivate, !isPrivate].map((hidden) => (isHls ? hlsFile(uuid, filename, hidden) : webVideoFile(filename, hidden)))
}

const pathOf = ({ uuid }: DescribedVideo, { filename, isHls }: DescribedFile): string =>
  isHls ? `/static/streaming-playlists/hls/${uuid}/${filename}` : `/static/web-videos/${filename}`
