// oEmbed (oembed.com): how other sites embed a video or local playlist, from the address of its page. Also redirects to accounts.

import { z } from 'zod'
import { findAccount } from '../../actors/account/index.ts'
import { findPlaylist, isOpenPlaylistBy } from '../../actors/playlist/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import { assertFollowed, findVideoDetails, isOpenBy } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { html, webUrl } from '../../platform/html.ts'
import { embedSize, embedUrl, playlistEmbedUrl, previewUrl } from '../pages/addresses.ts'
import { playerQuery } from '../pages/player-options.ts'
import { singleSlashes } from '../plugins/addresses.ts'
import { toActorHandle } from '../plugins/handles.ts'
import { HttpError } from '../plugins/http-error.ts'
import { redirect } from '../plugins/redirect.ts'
import { idOrUuid, integerText } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import type { Here } from '../videos/actor.view.ts'

export interface ServicesDeps {
  db: Database
  config: () => Config
  urls: Here
}

const side = integerText({ min: 1, max: 10_000 })
const query = z.object({
  url: z.string().min(1).max(2000),
  format: z.string().max(20).default('json'),
  maxwidth: side.optional(),
  maxheight: side.optional(),
})

const oEmbedView = z.object({
  type: z.literal('video'),
  version: z.literal('1.0'),
  html: z.string(),
  width: z.int(),
  height: z.int(),
  title: z.string(),
  author_name: z.string(),
  author_url: z.string(),
  provider_name: z.string(),
  provider_url: z.string(),
  thumbnail_url: z.string().optional(),
  thumbnail_width: z.int().optional(),
  thumbnail_height: z.int().optional(),
})

const targetKey = idOrUuid('video')
type IdOrUuid = z.infer<typeof targetKey>
/** px, if the configuration has no sizes. */
const PREVIEW = { width: 850, height: 480 }
const THUMBNAIL = { width: 280, height: 157 }

/** Adds `/services/oembed` and `/services/redirect/accounts/:accountName`. */
export function servicesArea({ db, config, urls }: ServicesDeps): Area {
  return (app) => {
    app.get(
      '/services/oembed',
      { schema: { hide: true, querystring: query, response: { 200: oEmbedView } }, config: { limits: ['client'] } },
      async (request) => {
        const { url, format, maxwidth, maxheight } = request.query
        if (format !== 'json') {
          throw new HttpError(501, 'Requested format is not implemented on server.', { extra: { format } })
        }
        const { kind, key, playing } = targetIn(url, urls)
        const shown = kind === 'video' ? await openVideo(key) : await openPlaylist(key)
        const { title, author, embed, picture } = shown
        const { width, height } = embedSize(shown.aspectRatio, { width: maxwidth, height: maxheight })
        const frame = html`<iframe width="${width}" height="${height}" sandbox="allow-same-origin allow-scripts allow-popups allow-forms" title="${title}" src="${embed}${playing}" frameborder="0" allowfullscreen></iframe>`
        const fits = picture && picture.width <= (maxwidth ?? Infinity) && picture.height <= (maxheight ?? Infinity)
        return {
          type: 'video' as const,
          version: '1.0' as const,
          html: frame.text,
          width,
          height,
          title,
          author_name: author.name,
          author_url: author.url,
          provider_name: config().instance.name,
          provider_url: urls.origin,
          ...(fits ? { thumbnail_url: picture.url, thumbnail_width: picture.width, thumbnail_height: picture.height } : {}),
        }
      },
    )

    app.get(
      '/services/redirect/accounts/:accountName',
      { schema: { hide: true, params: z.object({ accountName: z.string() }) }, config: { limits: ['client'] } },
      async (request, reply) => {
        const account = await findAccount(db, toActorHandle(request.params.accountName, urls.host))
        const url = webUrl(account?.url)
        if (!url) throw notFound('Account not found')
        return redirect(reply, 302, url)
      },
    )
  }

  async function openVideo(key: IdOrUuid): Promise<Shown> {
    const video = await findVideoDetails(db, key)
    if (!video) throw notFound('Video not found')
    if (!isOpenBy(video, { byId: 'id' in key })) throw new HttpError(403, 'Video is not publicly available')
    assertFollowed(video, null, config().search.remote_uri)
    const { width, height } = config().thumbnails.sizes[1] ?? PREVIEW
    const picture = previewUrl(video, urls)
    return {
      title: video.name,
      author: video.channel,
      embed: embedUrl(video, urls),
      aspectRatio: video.aspect_ratio,
      picture: picture === null ? undefined : { url: picture, width, height },
    }
  }

  async function openPlaylist(key: IdOrUuid): Promise<Shown> {
    const playlist = await findPlaylist(db, key)
    if (!playlist) throw notFound('Playlist not found')
    const { privacy, name, channel, account, thumbnail } = playlist
    if (!isOpenPlaylistBy(privacy, { byId: 'id' in key })) {
      throw new HttpError(403, 'Playlist is not publicly available')
    }
    const { width, height } = config().thumbnails.sizes[0] ?? THUMBNAIL
    return {
      title: name,
      author: channel ?? account,
      embed: playlistEmbedUrl(playlist, urls),
      aspectRatio: null,
      picture: thumbnail === null ? undefined : { url: `${urls.origin}/lazy-static/thumbnails/${thumbnail}`, width, height },
    }
  }
}

interface Shown {
  title: string
  author: { name: string; url: string }
  embed: string
  aspectRatio: number | null
  picture: { url: string; width: number; height: number } | undefined
}

const PAGES = [
  { kind: 'playlist', path: /^\/(?:videos\/watch\/playlist|w\/p)\/([^/]{1,100})\/?$/ },
  { kind: 'video', path: /^\/(?:videos\/watch|w)\/([^/]{1,100})\/?$/ },
] as const

/** Player options in an address; playlists also have a position. */
const PLAYING = playerQuery.extend({
  playlistPosition: integerText({ min: 1, max: 1_000_000 }).optional().catch(undefined),
})

/** `playing`: as the query of the embed, with its question mark. */
function playingIn(params: URLSearchParams): string {
  const asked = Object.entries(PLAYING.parse(Object.fromEntries(params)))
  const kept = asked.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return kept.length === 0 ? '' : `?${new URLSearchParams(kept)}`
}

/** The subject of a local page. Throws 400 for every other address. */
function targetIn(text: string, urls: Here): { kind: 'video' | 'playlist'; key: IdOrUuid; playing: string } {
  const url = URL.parse(text)
  for (const { kind, path } of url?.origin === urls.origin ? PAGES : []) {
    const id = path.exec(singleSlashes(url?.pathname ?? ''))?.[1]
    if (id === undefined) continue
    const key = targetKey.safeParse(id).data
    if (!key) throw new HttpError(400, 'Invalid video or playlist id.')
    return { kind, key, playing: playingIn(url?.searchParams ?? new URLSearchParams()) }
  }
  throw new HttpError(400, 'Invalid url.', { extra: { url: text } })
}
