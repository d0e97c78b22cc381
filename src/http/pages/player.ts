// The player of a video: a native one that plays without scripts, with data for the script.

import { hasPrivateFiles, type WatchedCaption, type WatchedVideoRow } from '../../actors/video/index.ts'
import { type Html, html } from '../../platform/html.ts'
import { inNumbers, type Localized, t } from '../../platform/language.ts'
import type { Here } from '../videos/actor.view.ts'
import { previewPath, watchUrl } from './addresses.ts'
import { languageName } from './bodies/text.ts'
import { chaptersOfBar } from './bodies/watch.ts'
import { titleText } from './heads/index.ts'
import type { PlayerOptions } from './player-options.ts'
import { type FileToken, type Source, type Sources, withToken } from './sources.ts'

export interface Played {
  video: WatchedVideoRow
  fileToken: FileToken
  options: PlayerOptions
  /** Entered by the visitor: views are counted with it. */
  password?: string | undefined
  /** The address for progress reports of logged-in users, and the token of a form. */
  reports?: { path: string; token: string } | undefined
  nextUrl?: string | undefined
  /** Alone, in a frame of another site. */
  embed?: boolean
}

interface PlayerParts extends Played {
  sources: Sources
  here: Here
  warns: boolean
}

export function playerOf(parts: PlayerParts): Html {
  if (!parts.video.nsfw || !parts.warns) return plainPlayer(parts)
  // A covered video must not be heard.
  const player = plainPlayer({ ...parts, options: { ...parts.options, autoplay: false } })
  return html`<details class="sensitive"><summary><strong>${t('Sensitive content')}</strong><span>${t('This video is marked as sensitive.')}</span><span class="button main">${t('Show it')}</span></summary>${player}</details>`
}

function plainPlayer(parts: PlayerParts): Html {
  const { video, sources, options, embed = false } = parts
  const { start, stop } = options
  const poster = previewPath(video, parts.fileToken)
  const fragment = start > 0 || stop !== undefined ? `#t=${start}${stop === undefined ? '' : `,${stop}`}` : ''
  const name = titleText(video.name)
  return html`<div class="player" ${data({
    // The API does not read the visitor's cookie: it would refuse reports for videos that need it.
    video: (!hasPrivateFiles(video) || parts.password !== undefined || parts.reports !== undefined) && video.uuid,
    reports: parts.reports?.path,
    token: parts.reports?.token,
    hls: sources.hls,
    duration: video.duration,
    live: video.is_live && video.id,
    start: start > 0 ? start : video.is_live ? undefined : (video.watched_seconds ?? undefined),
    stop,
    colours: [options.play ?? '', options.foreground ?? ''].join(' ').trimEnd(),
    password: parts.password,
    next: parts.nextUrl,
    storyboard: storyboardOf(parts),
  })}>
<video playsinline preload="${poster ? 'none' : 'metadata'}"${poster && html` poster="${poster}"`}${
    options.controls && html` controls`
  }${options.autoplay && html` autoplay`}${options.loop && html` loop`}${options.muted && html` muted`} aria-label="${name}">${
    sources.hls && html`<source src="${sources.hls}${fragment}" type="application/vnd.apple.mpegurl">`
  }${sources.files.map((file) => sourceOf(file, fragment))}${video.captions.map((caption) => trackOf(caption, parts))}</video>
<button class="play" type="button" hidden aria-label="${t('Play {name}', { name })}"><svg viewBox="0 0 24 24" width="42" aria-hidden="true"><path d="M8 5.2v13.6L19 12z"/></svg></button>
<p class="trouble" role="alert" hidden></p>
${embed ? bannerOf(parts, name) : null}${options.controls && html`${timesOf(video)}${toolsOf(parts)}`}</div>`
}

/** Attributes for the script; unknown ones are left out. */
const data = (pairs: Record<string, string | number | false | undefined>): Html =>
  html`${Object.entries(pairs).map(([name, value]) => (value || value === 0) && html`data-${name}="${value}" `)}`

const sourceOf = ({ url, type, label }: Source, fragment: string): Html =>
  html`<source src="${url}${fragment}" type="${type}" data-label="${label}">`

function trackOf(caption: WatchedCaption, { options, here, fileToken }: PlayerParts): Html {
  const { language, filename, automatically_generated: isGenerated } = caption
  const label = isGenerated ? t('{language} (automatic)', { language: languageName(language) }) : languageName(language)
  const src = withToken(`/lazy-static/video-captions/${filename}`, here, fileToken)
  return html`<track kind="subtitles" src="${src}" srclang="${language}" label="${label}"${
    options.subtitle === language && html` default`
  }>`
}

/** The storyboard, with its sizes (px) and interval (s). */
function storyboardOf({ video: { storyboard }, here, fileToken }: PlayerParts): string | undefined {
  if (!storyboard) return undefined
  const url = withToken(`/lazy-static/storyboards/${storyboard.filename}`, here, fileToken)
  const { total_width, sprite_width, sprite_height, sprite_duration } = storyboard
  return [url, total_width, sprite_width, sprite_height, sprite_duration].join(' ')
}

function bannerOf({ video, options, here }: PlayerParts, name: string): Html | null {
  const text = options.title ? name : options.link && here.host
  return text ? html`<p class="banner"><a href="${watchUrl(video, here)}" target="_blank" rel="noopener" dir="auto">${text}</a></p>` : null
}

/** Shown by the script, which makes them work. */
const toolsOf = ({ sources: { files, hls }, embed }: PlayerParts): Html =>
  html`<div class="tools" hidden>${
    (hls || files.length > 1) &&
    html`<label>${t('Quality')} <select class="quality"><option value="">${t('Auto')}</option></select></label>`
  }<label>${t('Speed')} <select class="speed">${[0.5, 0.75, 1, 1.25, 1.5, 2].map(
    (speed) => html`<option value="${speed}"${speed === 1 && html` selected`}>${inNumbers(speed)}×</option>`,
  )}</select></label>${!embed && switchOf('theatre', t('Theatre mode'), 'M2 5v14h20V5zm2 2h16v10H4z')}${switchOf(
    'floating',
    t('Picture in picture'),
    'M2 4v16h20V4zm2 2h16v12H4zm7 5v6h8v-6z',
    html` hidden`,
  )}</div>`

const switchOf = (name: string, label: Localized, path: string, attributes?: Html): Html =>
  html`<button class="${name}" type="button" aria-pressed="false" aria-label="${label}" title="${label}"${attributes}><svg viewBox="0 0 24 24" width="24" aria-hidden="true"><path fill-rule="evenodd" d="${path}"/></svg></button>`

/** A time bar below the picture, for what the browser's own cannot show. The script fills it. */
const timesOf = (video: WatchedVideoRow): Html | false =>
  !video.is_live &&
  video.duration > 0 &&
  (video.storyboard !== null || video.chapters.length > 0) &&
  html`<div class="times" dir="ltr" data-chapters="${chaptersOfBar(video)}" hidden><p class="hint" hidden><span class="preview"></span><bdi></bdi></p><div class="track"><input type="range" min="0" max="${Math.floor(video.duration)}" value="0" aria-label="${t('Position')}"></div><p class="now"></p></div>`
