// Videos as items of a feed, with the elements of Media RSS (www.rssboard.org/media-rss).

import { categoryLabels, hasPrivateFiles, type VideoListRow } from '../../actors/video/index.ts'
import { contentTypeOf } from '../../media/index.ts'
import { webUrl } from '../../platform/html.ts'
import { markdownToHtml } from '../../platform/markdown.ts'
import { oneLine } from '../../platform/plain-text.ts'
import { embedUrl, previewUrl } from '../pages/addresses.ts'
import type { Here } from '../videos/actor.view.ts'
import { toFileViews } from '../videos/file.view.ts'
import type { FeedItem } from './document.ts'
import { channelPage, videoPage } from './heads.ts'
import { attributes, text } from './xml.ts'

type FileView = ReturnType<typeof toFileViews>['files'][number]

export interface PlayableFile extends FileView {
  type: string
}

export interface Playables {
  /** Self-contained files first: web videos, then renditions with sound; the largest first. */
  files: PlayableFile[]
  playlists: { url: string; type: string }[]
}

const NOTHING: Playables = { files: [], playlists: [] }

/** Files that everybody may play; none for a video with private files. */
export function playablesOf(row: VideoListRow, here: Here): Playables {
  if (hasPrivateFiles(row)) return NOTHING
  const { files, streamingPlaylists } = toFileViews(row, here, undefined)
  const renditions = streamingPlaylists.flatMap((playlist) => playlist.files)
  const isWhole = ({ hasAudio, hasVideo }: FileView): boolean => hasAudio && hasVideo
  const ordered = [...files, ...renditions.filter(isWhole), ...renditions.filter((file) => !isWhole(file))]
  return {
    files: ordered.flatMap((file) => {
      const fileUrl = webUrl(file.fileUrl)
      return fileUrl === undefined ? [] : [{ ...file, fileUrl, type: typeOf(fileUrl) }]
    }),
    playlists: streamingPlaylists.flatMap(({ playlistUrl }) => {
      const url = webUrl(playlistUrl)
      return url === undefined ? [] : [{ url, type: HLS }]
    }),
  }
}

const HLS = contentTypeOf('master.m3u8')
export const TORRENT = contentTypeOf('any.torrent')

const typeOf = (url: string): string => contentTypeOf(URL.parse(url)?.pathname ?? '')

/** What all formats contain of a video. */
export function commonOf(row: VideoListRow, here: Here, files: readonly PlayableFile[]): Omit<FeedItem, 'elements'> {
  const description = row.whole_description ?? row.description ?? ''
  const [first] = files
  const category = row.category === null ? undefined : categoryLabels[row.category]
  return {
    title: row.name,
    link: videoPage(row, here),
    date: row.published_at,
    summary: oneLine(description) || undefined,
    content: markdownToHtml(description, here.origin),
    author: { name: row.channel.name, link: channelPage(row.channel, here) },
    category,
    enclosure: first && { url: first.fileUrl, type: first.type, length: first.size },
  }
}

export function toVideoItem(row: VideoListRow, here: Here): FeedItem {
  const { files } = playablesOf(row, here)
  const common = commonOf(row, here, files)
  const torrents = files.flatMap((file) => {
    const url = webUrl(file.torrentUrl)
    return url === undefined ? [] : [{ url, size: file.size }]
  })
  const title = row.name.toWellFormed()
  const attached = (url: string, size: number, type: string) => ({
    title,
    url,
    size_in_bytes: size,
    mime_type: type,
  })
  return {
    ...common,
    attachments: [
      ...torrents.map(({ url, size }) => attached(url, size, TORRENT)),
      ...files.map(({ fileUrl, size, type }) => attached(fileUrl, size, type)),
    ],
    elements: {
      'dc:creator': text(row.channel.name),
      ...mediaOf(row, here, { files, torrents, summary: common.summary }),
    },
  }
}

function mediaOf(
  row: VideoListRow,
  here: Here,
  { files, torrents, summary }: { files: PlayableFile[]; torrents: { url: string }[]; summary: string | undefined },
): Record<string, unknown> {
  const preview = previewUrl(row, here)
  const pictures = [...(preview ? [preview] : []), ...(row.thumbnail ? [`${here.origin}/lazy-static/thumbnails/${row.thumbnail}`] : [])]
  const group = {
    'media:peerLink': torrents.map(({ url: href }) => attributes({ type: TORRENT, href, isDefault: false })),
    'media:content': files.map((file, index) =>
      attributes({
        type: file.type,
        medium: file.hasVideo ? 'video' : 'audio',
        height: file.hasVideo ? (file.height ?? file.resolution.id) : undefined,
        width: file.hasVideo ? (file.width ?? undefined) : undefined,
        fileSize: file.size,
        url: file.fileUrl,
        framerate: file.hasVideo && file.fps > 0 ? file.fps : undefined,
        duration: row.duration > 0 ? row.duration : undefined,
        lang: row.language ?? undefined,
        isDefault: index === 0,
      }),
    ),
  }
  return {
    'media:community': { 'media:statistics': attributes({ views: row.views }) },
    'media:embed': attributes({ url: embedUrl(row, here) }),
    'media:player': attributes({ url: videoPage(row, here) }),
    ...(files.length > 0 ? { 'media:group': group } : {}),
    'media:thumbnail': pictures.map((url) => attributes({ url })),
    'media:rating': text(row.nsfw ? 'adult' : 'nonadult'),
    'media:title': { ...attributes({ type: 'plain' }), ...text(row.name) },
    ...(summary ? { 'media:description': { ...attributes({ type: 'plain' }), ...text(summary) } } : {}),
  }
}
