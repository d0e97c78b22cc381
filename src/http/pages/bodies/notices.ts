// Explains why a video cannot be watched now, or what viewers should know about it.

import { videoPrivacies, type WatchedVideoRow } from '../../../actors/video/index.ts'
import { type Html, html } from '../../../platform/html.ts'

const STATES: Readonly<Record<string, string>> = {
  'to-transcode': 'This video is being prepared, and can be watched soon.',
  'to-import': 'This video is on its way here, and can be watched soon.',
  'to-edit': 'This video is being edited, and can be watched again soon.',
  'transcoding-failed': 'This video could not be prepared for watching.',
  'waiting-for-live': 'This live has not begun yet. It plays here when it does.',
  'live-ended': 'This live is over. Its replay, if there is one, plays here.',
}

const PRIVACIES: Readonly<Record<number, string>> = {
  [videoPrivacies.private]: 'Only you and the staff see this video.',
  [videoPrivacies.internal]: 'Only users of this server see this video.',
}

/** Notices above a video. */
export function noticesOf({ state, privacy, blocked, schedule }: WatchedVideoRow, hasSources: boolean): string[] {
  return [
    ...(blocked ? ['This video is blocked: only its owner and the staff see it.'] : []),
    ...(PRIVACIES[privacy] ? [PRIVACIES[privacy]] : []),
    ...(schedule ? [`It will be published on ${new Date(schedule.update_at).toUTCString()}.`] : []),
    // A video that plays already needs no explanation, even if renditions are missing.
    ...(hasSources || !STATES[state] ? [] : [STATES[state]]),
  ]
}

/** Shown instead of a player if there is nothing to play. The script waits for a live. */
export const emptyPlayer = (video: WatchedVideoRow, poster: string | null): Html =>
  html`<div class="player empty"${video.is_live && html` data-live="${video.id}"`}>${poster && html`<img src="${poster}" alt="">`}<p class="trouble">${
    STATES[video.state] ?? 'This video cannot be watched yet.'
  }</p></div>`
