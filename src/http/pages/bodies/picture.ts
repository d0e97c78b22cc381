// The picture of a video in a list: with its duration, and covered if it is sensitive and the viewer wants a warning.

import type { ActorSummary } from '../../../actors/actor/index.ts'
import type { VideoListRow } from '../../../actors/video/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import { withFileToken } from '../../videos/address-token.ts'
import { avatarPath } from '../addresses.ts'
import type { FileToken } from '../sources.ts'
import { clock } from './text.ts'

/** The picture of an actor, or its initial; `width`: px on the page. */
export function avatarOf(actor: Pick<ActorSummary, 'name' | 'avatars'>, width: number): Html {
  const path = avatarPath(actor, Math.max(48, width))
  return path === undefined
    ? html`<span class="avatar" aria-hidden="true">${[...actor.name.trim()][0]?.toUpperCase() ?? '?'}</span>`
    : html`<img class="avatar" src="${path}" alt="" width="${width}" height="${width}" loading="lazy">`
}

export const bannerOf = (filename: string | undefined): Html | null =>
  filename === undefined ? null : html`<img class="banner" src="/lazy-static/banners/${filename}" alt="" width="1920" height="317">`

type Pictured = Pick<VideoListRow, 'thumbnail' | 'duration' | 'is_live' | 'nsfw'>

/** `covers`: cover the pictures of sensitive videos. The style sheet blurs them. */
export const pictureOf = (
  { thumbnail, duration, is_live, nsfw }: Pictured,
  { covers, fileToken }: { covers: boolean; fileToken?: FileToken },
): Html =>
  html`<span class="picture${nsfw && covers && ' covered'}">${
    thumbnail &&
    html`<img src="${withFileToken(`/lazy-static/thumbnails/${thumbnail}`, fileToken)}" alt="" loading="lazy" width="280" height="157">`
  }${is_live ? html`<span class="count live">${t('Live')}</span>` : html`<time datetime="PT${duration}S">${clock(duration)}</time>`}</span>`

/** A mark next to the name. */
export const sensitiveMark = ({ nsfw }: Pick<Pictured, 'nsfw'>): Html | null =>
  nsfw ? html` <span class="mark">${t('Sensitive')}</span>` : null
