// The videos of a channel as a podcast: RSS with the elements of the podcast namespace (podcasting2.org) and of iTunes.

import type { ActorProfile } from '../../actors/actor/index.ts'
import { trackersOf } from '../../actors/torrent/index.ts'
import type { VideoListRow } from '../../actors/video/index.ts'
import { webUrl } from '../../platform/html.ts'
import { mapInSlices } from '../../platform/time-slices.ts'
import { previewUrl } from '../pages/addresses.ts'
import type { Here } from '../videos/actor.view.ts'
import { type FeedHead, type FeedItem, writeRss } from './document.ts'
import { accountPage, avatarOf } from './heads.ts'
import { majorityOf, podcastCategory } from './podcast-about.ts'
import { commonOf, type PlayableFile, type Playables, playablesOf, TORRENT } from './video-items.ts'
import { attributes, eitherWay, text } from './xml.ts'

export async function writePodcast(
  { head, account, email, here }: { head: FeedHead; account: ActorProfile; email: string | undefined; here: Here },
  { rows, lives }: { rows: readonly VideoListRow[]; lives: readonly VideoListRow[] },
): Promise<string> {
  // An episode needs something to play.
  const items = (await mapInSlices(rows, (row) => toPodcastItem(row, here))).filter(({ enclosure }) => enclosure !== undefined)
  const language = majorityOf(rows.map((row) => row.language))
  return writeRss({ ...head, language }, items, {
    uses: ['podcast', 'itunes'],
    elements: {
      'podcast:medium': text('video'),
      'podcast:person': personOf(account, here),
      // An owner requires an address (Apple's requirements).
      'itunes:owner': email === undefined ? undefined : { 'itunes:name': text(account.name), 'itunes:email': text(email) },
      // One explicit video is enough.
      'itunes:explicit': explicit(rows.some(({ nsfw }) => nsfw)),
      'itunes:category': categoryOf(rows),
      'itunes:image': attributes({ href: head.image }),
      ...(lives.length > 0 ? { 'podcast:liveItem': lives.map((row) => toLiveItem(row, here)) } : {}),
    },
  })
}

function toPodcastItem(row: VideoListRow, here: Here): FeedItem {
  const playables = playablesOf(row, here)
  return { ...commonOf(row, here, playables.files), elements: elementsOf(row, playables, here) }
}

/** A live that waits for its stream, or has begun at `start`. */
function toLiveItem(row: VideoListRow, here: Here) {
  const isPlaying = row.state === 'published'
  const { playlists } = playablesOf(row, here)
  const [playlist] = isPlaying ? playlists : []
  const { title, link } = commonOf(row, here, [])
  return {
    ...attributes({ status: isPlaying ? 'live' : 'pending', start: row.published_at.toISOString() }),
    title: text(eitherWay(title)),
    link: text(link),
    guid: { ...attributes({ isPermaLink: true }), ...text(link) },
    ...(playlist ? { enclosure: attributes({ url: playlist.url, length: 0, type: playlist.type }) } : {}),
    ...elementsOf(row, { files: [], playlists: playlist ? [playlist] : [] }, here),
    'podcast:contentLink': { ...attributes({ href: link }), ...text(title) },
  }
}

function elementsOf(row: VideoListRow, playables: Playables, here: Here) {
  const preview = previewUrl(row, here)
  return {
    'dc:creator': text(row.account.name),
    'podcast:person': personOf(row.account, here),
    'podcast:tracker': Object.values(trackersOf(here.origin)).map(text),
    'podcast:socialInteract': attributes({
      uri: row.url,
      protocol: 'activitypub',
      accountUrl: accountPage(row.account, here),
    }),
    'podcast:alternateEnclosure': alternativesOf(row, playables),
    ...(preview ? { 'itunes:image': attributes({ href: preview }) } : {}),
    ...(row.duration > 0 ? { 'itunes:duration': text(String(row.duration)) } : {}),
    'itunes:explicit': explicit(row.nsfw),
  }
}

/** Every file with all its locations; then the playlists. */
function alternativesOf(row: VideoListRow, { files, playlists }: Playables) {
  return [
    ...files.map((file, index) => ({
      ...attributes({
        type: file.type,
        length: file.size,
        bitrate: row.duration > 0 ? Math.round((file.size * 8) / row.duration) : undefined,
        height: file.hasVideo ? (file.height ?? undefined) : undefined,
        lang: row.language ?? undefined,
        title: file.resolution.label,
        default: index === 0,
      }),
      'podcast:source': sourcesOf(file),
    })),
    ...playlists.map(({ url, type }) => ({
      ...attributes({ type, lang: row.language ?? undefined, title: 'HLS', default: files.length === 0 }),
      'podcast:source': attributes({ uri: url }),
    })),
  ]
}

function sourcesOf({ fileUrl, torrentUrl, magnetUri }: PlayableFile) {
  const torrent = webUrl(torrentUrl)
  return [
    attributes({ uri: fileUrl }),
    ...(torrent === undefined ? [] : [attributes({ uri: torrent, contentType: TORRENT })]),
    ...(magnetUri?.startsWith('magnet:') ? [attributes({ uri: magnetUri, contentType: TORRENT })] : []),
  ]
}

function categoryOf(rows: readonly VideoListRow[]) {
  const [category, below] = podcastCategory(majorityOf(rows.map((row) => row.category))) ?? []
  if (category === undefined) return undefined
  return {
    ...attributes({ text: category }),
    ...(below === undefined ? {} : { 'itunes:category': attributes({ text: below }) }),
  }
}

const explicit = (nsfw: boolean) => text(String(nsfw))

type Person = Pick<ActorProfile, 'name' | 'username' | 'host' | 'avatars'>

const personOf = (account: Person, here: Here) => ({
  ...attributes({ href: accountPage(account, here), img: avatarOf(account, here) }),
  ...text(account.name),
})
