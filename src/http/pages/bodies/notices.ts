// Explains why a video cannot be watched now, or what viewers should know about it.

import { videoPrivacies, type WatchedVideoRow } from '../../../actors/video/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { type Localized, t } from '../../../platform/language.ts'
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

/** Notices above a video. */
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
