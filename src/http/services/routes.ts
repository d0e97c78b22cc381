// oEmbed (oembed.com): how other sites show a video of ours, from the address of its page.

import { z } from 'zod'
import { notFound } from '../../actors/runtime/index.ts'
import { findVideoDetails, isOpen, videoPrivacies } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { html } from '../../platform/html.ts'
import { EMBED, embedUrl, previewUrl } from '../pages/addresses.ts'
import { HttpError } from '../plugins/http-error.ts'
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

const videoKey = idOrUuid('video')
const FALLBACK = { width: 850, height: 480 }

/** Adds `/services/oembed`. */
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
        const key = keyIn(url, urls)
        const video = await findVideoDetails(db, key)
        if (!video) throw notFound('Video not found')
        const isNamed = 'uuid' in key || video.privacy === videoPrivacies.public
        if (!isOpen(video) || !isNamed) throw new HttpError(403, 'Video is not publicly available')

        const width = Math.min(EMBED.width, maxwidth ?? EMBED.width)
        const height = Math.min(EMBED.height, maxheight ?? EMBED.height)
        const frame = html`<iframe width="${width}" height="${height}" sandbox="allow-same-origin allow-scripts allow-popups allow-forms" title="${video.name}" src="${embedUrl(video, urls)}" frameborder="0" allowfullscreen></iframe>`
        const preview = config().thumbnails.sizes[1] ?? FALLBACK
        const picture = previewUrl(video, urls)
        const fits = preview.width <= (maxwidth ?? preview.width) && preview.height <= (maxheight ?? preview.height)
        return {
          type: 'video' as const,
          version: '1.0' as const,
          html: frame.text,
          width,
          height,
          title: video.name,
          author_name: video.channel.name,
          author_url: video.channel.url,
          provider_name: config().instance.name,
          provider_url: urls.origin,
          ...(picture && fits
            ? { thumbnail_url: picture, thumbnail_width: preview.width, thumbnail_height: preview.height }
            : {}),
        }
      },
    )
  }
}

/** The video that the address of a page of ours names. Throws 400 for every other address. */
function keyIn(text: string, urls: Here) {
  const url = URL.parse(text)
  const [, id] = (url?.origin === urls.origin && /^\/(?:videos\/watch|w)\/([^/]{1,100})\/?$/.exec(url.pathname)) || []
  if (id === undefined) throw new HttpError(400, 'Invalid url.', { extra: { url: text } })
  const key = videoKey.safeParse(id).data
  if (!key) throw new HttpError(400, 'Invalid video or playlist id.')
  return key
}
