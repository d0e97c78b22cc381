// What is shown above or in place of content: why it is missing, what viewers should know about a video, and the server's message.

import { videoPrivacies, type WatchedVideoRow } from '../../../actors/video/index.ts'
import type { Config } from '../../../config/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { type Localized, t } from '../../../platform/language.ts'
import type { Here } from '../../videos/actor.view.ts'
import { richText } from './rich-text.ts'
import { moment } from './text.ts'

const STATES: Readonly<Record<string, Localized>> = {
  'to-transcode': t('This video is being prepared, and can be watched soon.'),
  'to-import': t('This video is on its way here, and can be watched soon.'),
  'to-edit': t('This video is being edited, and can be watched again soon.'),
  'transcoding-failed': t('This video could not be prepared for watching.'),
  'waiting-for-live': t('This live has not begun yet. It plays here when it does.'),
  'live-ended': t('This live is over. Its replay, if there is one, plays here.'),
}

const PRIVACIES: Readonly<Record<number, Localized>> = {
  [videoPrivacies.private]: t('Only you and the staff see this video.'),
  [videoPrivacies.internal]: t('Only users of this server see this video.'),
}

export function noticesOf({ state, privacy, blocked, schedule }: WatchedVideoRow, hasSources: boolean): Localized[] {
  return [
    ...(blocked ? [t('This video is blocked: only its owner and the staff see it.')] : []),
    ...(PRIVACIES[privacy] ? [PRIVACIES[privacy]] : []),
    ...(schedule ? [t('It will be published on {time}.', { time: moment(new Date(schedule.update_at)) })] : []),
    // A video that plays already needs no explanation, even if renditions are missing.
    ...(hasSources || !STATES[state] ? [] : [STATES[state]]),
  ]
}

/** Shown instead of a player if there is nothing to play. The script waits for a live. */
export const emptyPlayer = (video: WatchedVideoRow, poster: string | null): Html =>
  html`<div class="player empty"${video.is_live && html` data-live="${video.id}"`}>${poster && html`<img src="${poster}" alt="">`}<p class="trouble">${
    STATES[video.state] ?? t('This video cannot be watched yet.')
  }</p></div>`

/** The same whether the page does not exist or is hidden from the requester. */
export const missingBody = ({ embed }: { embed: boolean }): Html =>
  html`<section class="missing"><h1>${t('There is nothing here')}</h1>
<p>${t('What you look for does not exist, or it is not for everybody.')}</p>
${!embed && html`<p><a class="button" href="/">${t('Latest videos')}</a> <a class="button plain" href="/login">${t('Log in')}</a></p>`}</section>`

/** Bytes of HTML: it is on every page. */
const LONGEST_MESSAGE = 8000

/** Undefined without a message. It cannot be dismissed, since nothing stores that without a script. */
export function messageOf({ enabled, message, level }: Config['broadcast_message'], here: Here): Html | undefined {
  if (!enabled || message.trim() === '') return undefined
  return html`<aside class="notice ${level}" aria-label="${t('Message of this server')}">${richText(message, here, { longest: LONGEST_MESSAGE })}</aside>
`
}
