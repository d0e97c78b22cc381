// The page of a video: the player, its channel, description and comments.

import { categoryLabels, languageLabels, licenceLabels, videoPrivacies, type WatchedVideoRow } from '../../../actors/video/index.ts'
import { type Html, html, webUrl } from '../../../platform/html.ts'
import type { Here } from '../../videos/actor.view.ts'
import { accountPath, avatarPath, channelPath, watchPath } from '../addresses.ts'
import { nextVideos } from './next-videos.ts'
import { richText } from './rich-text.ts'
import { clock, counted, day, initialOf } from './text.ts'

export interface WatchParts {
  video: WatchedVideoRow
  here: Here
  /** Shown instead of the player or above it. */
  notices: readonly string[]
  comments: Html | null
  downloads: Html | null
  share: Html | null
  /** True if pictures of sensitive videos are covered. */
  covers: boolean
  /** Replaces the latest videos of the channel. */
  aside?: Html
}

export const watchBody = (player: Html, below: Html): Html => html`<div class="watch">
<article>
${player}
${below}
</div>`

/** Everything below the player and next to it. */
export function belowPlayer({ video, here, notices, comments, downloads, share, covers, aside }: WatchParts): Html {
  return html`${notices.map((notice) => html`<p class="notice">${notice}</p>`)}
<h1 dir="auto"${langOf(video)}>${video.name}</h1>
<p class="facts">${day(video.published_at)}<span>${counted(video.views, 'view')}</span><span>${counted(video.likes, 'like')}</span>${
    video.is_live &&
    video.state === 'published' &&
    html`<span class="viewers">${counted(video.viewers, 'viewer')} now</span><span class="mark live">Live</span>`
  }${
    video.nsfw && html`<span class="mark">Sensitive</span>`
  }${video.privacy === videoPrivacies.unlisted && html`<span class="mark">Unlisted</span>`}${originOf(video)}</p>
${makersOf(video, here)}
${video.description && richText(video.description, here, { language: video.language, watch: watchPath(video) })}
${chaptersOf(video)}
${detailsOf(video)}
${video.support && html`<details><summary>Support</summary>${richText(video.support, here, { longest: SUPPORT_BYTES })}</details>`}
${downloads}
${share}
${comments}
</article>
<aside aria-label="More videos">${aside ?? nextVideos(video, { covers })}</aside>`
}

/** Bytes of HTML: 1,000 characters of any script. */
const SUPPORT_BYTES = 6000

const langOf = ({ language }: WatchedVideoRow): Html | null => (language ? html` lang="${language}"` : null)

function originOf({ remote, url, channel }: WatchedVideoRow): Html | null {
  if (!remote) return null
  const original = webUrl(url)
  const text = `From ${channel.host ?? 'another server'}`
  return original ? html`<a href="${original}" rel="noopener">${text}</a>` : html`<span>${text}</span>`
}

function makersOf({ channel, account, remote }: WatchedVideoRow, here: Here): Html {
  const avatar = avatarPath(channel, 48) ?? avatarPath(account, 48)
  return html`<div class="by">${
    avatar
      ? html`<img class="avatar" src="${avatar}" alt="" width="48" height="48">`
      : html`<span class="avatar" aria-hidden="true">${initialOf(channel.name)}</span>`
  }<div><a class="channel" href="${channelPath(channel)}"><bdi>${channel.name}</bdi></a><p>by <a href="${accountPath(
    account,
  )}"><bdi>${account.name}</bdi></a> · <bdi>@${channel.username}@${channel.host ?? here.host}</bdi> · ${counted(
    channel.followers,
    'subscriber',
  )}</p></div><a class="button main" href="${channelPath(channel)}" aria-label="Subscribe to ${channel.name}">Subscribe</a>${
    remote ? null : html`<a class="button plain" href="/feeds/videos.xml?videoChannelId=${channel.id}">RSS</a>`
  }</div>`
}

function chaptersOf(video: WatchedVideoRow): Html | null {
  if (video.chapters.length === 0) return null
  const path = watchPath(video)
  return html`<section aria-labelledby="chapters"><h2 id="chapters">Chapters</h2>
<ol class="chapters">${video.chapters.map(
    ({ timecode, title }) =>
      html`<li><a href="${path}?start=${timecode}" data-seek="${timecode}"><span class="preview"></span><time datetime="PT${timecode}S">${clock(timecode)}</time> <bdi>${title}</bdi></a></li>
`,
  )}</ol></section>`
}

function detailsOf(video: WatchedVideoRow): Html | null {
  const { category, licence, language, tags, originally_published_at: originally, duration } = video
  const rows: [string, Html | string | null | undefined | false][] = [
    ['Length', !video.is_live && duration > 0 && clock(duration)],
    ['Category', category !== null && (categoryLabels[category] ?? 'Other')],
    ['Licence', licence !== null && (licenceLabels[licence] ?? 'Other')],
    ['Language', language !== null && (languageLabels[language] ?? language)],
    ['First published', originally && day(originally)],
    ['Tags', tags.length > 0 && html`<ul class="tags">${tags.map(tagOf)}</ul>`],
  ]
  return html`<dl class="details">${rows.map(([name, value]) => value && html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`
}

const tagOf = (tag: string): Html => html`<li><a href="/search?tagsOneOf=${encodeURIComponent(tag)}" dir="auto">${tag}</a></li>`
