// The notifications of a user, as sentences with a link to the page if there is one.

import type { ActorInfoRow, NotificationRow, NotificationType, VideoInfoRow } from '../../../actors/notification/index.ts'
import { notificationTypes } from '../../../actors/notification/index.ts'
import { type Html, html, rich } from '../../../platform/html.ts'
import { english, known, type Language, t } from '../../../platform/language.ts'
import { accountPath, channelPath, handleOf, watchPath } from '../addresses.ts'
import { capital, day, languageName, shortText } from './text.ts'

/** `form`: where it is sent to mark one as read, with what else. */
export const notificationList = (rows: readonly NotificationRow[], form: { action: string; hidden: Html }): Html =>
  html`<ul class="notifications">${rows.map(
    (row) =>
      html`<li><p>${!row.read && html`<span class="mark">${t('New')}</span> `}${sentenceOf(row)} <span class="soft">${day(new Date(row.created_at))}</span></p>${!row.read && html`<form method="post" action="${form.action}" data-swap>${form.hidden}<input type="hidden" name="id" value="${row.id}"><button>${t('Mark as read')}</button></form>`}</li>
`,
  )}</ul>`

export function pushWords(row: NotificationRow, language: Language = english): { text: string; path: string } {
  const { comment, video, block, caption, import: imported } = row
  const about = comment?.video ?? video ?? block?.video ?? caption?.video ?? imported?.video
  const thread = comment ? `;threadId=${comment.thread_id}` : ''
  return { text: sentenceOf(row).plain(language), path: about ? `${watchPath(about)}${thread}` : '/my-account/notifications' }
}

const NAMES = new Map<number, NotificationType>(Object.entries(notificationTypes).map(([name, type]) => [type, name as NotificationType]))

/** Names can be chosen freely, so those of others are shown with their handle. */
const who = (actor: Pick<ActorInfoRow, 'name' | 'username' | 'host'> | null | undefined, path = accountPath): Html =>
  actor ? html`<a href="${path(actor)}"><bdi>${actor.name}</bdi></a> <span class="soft">@${handleOf(actor)}</span>` : html`${t('Somebody')}`

const named = (video: VideoInfoRow | null | undefined): Html =>
  video ? html`<a href="${watchPath(video)}"><bdi>${video.name}</bdi></a>` : html`${t('a removed video')}`

/** The text for kinds that this version does not know. */
const OTHER = html`${t('Something happened on this server.')}`

function sentenceOf(row: NotificationRow): Html {
  const { video, comment, abuse, block, follow, account, registration, import: imported } = row
  const name = NAMES.get(row.type)
  const said = () => ({
    name: who(comment?.account),
    video: html`${comment && html`<a href="${watchPath(comment.video)}?threadId=${comment.thread_id}#comments"><bdi>${comment.video.name}</bdi></a>`}`,
  })
  const shown = () => ({ channel: who(video?.channel, channelPath), video: named(video) })
  const report = (at = abuse?.is_own ? '/my-account' : '/admin') => ({ number: html`<a href="${at}/abuses/${abuse?.id}">${abuse?.id}</a>` })
  const tells: Partial<Record<NotificationType, () => Html>> = {
    newVideoFromSubscription: () => rich('{channel} published {video}.', shown()),
    newLiveFromSubscription: () => rich('{channel} started the live stream {video}.', shown()),
    newCommentOnMyVideo: () =>
      comment?.held
        ? rich('{name} wrote a comment on {video}, which awaits your approval.', said())
        : rich('{name} wrote a comment on {video}.', said()),
    commentMention: () => rich('{name} mentioned you in a comment on {video}.', said()),
    newAbuseForModerators: () => rich('A report, number {number}, waits for the moderators.', report('/admin')),
    abuseStateChange: () =>
      rich('Your report, number {number}, was decided: {state}.', { ...report(), state: known(capital(abuse?.state ?? '')) }),
    abuseNewMessage: () => rich('There is a message about report number {number}.', report()),
    blacklistOnMyVideo: () => rich('Your video {video} was blocked.', { video: named(block?.video ?? video) }),
    unblacklistOnMyVideo: () => rich('Your video {video} is no longer blocked.', { video: named(video) }),
    videoAutoBlacklistForModerators: () => rich('The video {video} waits for a review.', { video: named(block?.video ?? video) }),
    myVideoPublished: () => rich('Your video {video} is published.', { video: named(video) }),
    myVideoStudioEditionFinished: () => rich('Your video {video} is edited.', { video: named(video) }),
    myVideoTranscriptionGenerated: () =>
      rich('Captions ({language}) were made for your video {video}.', {
        language: languageName(row.caption?.language ?? ''),
        video: named(row.caption?.video),
      }),
    myVideoImportSuccess: () => rich('Your import of {video} is done.', { video: named(imported?.video) }),
    myVideoImportError: () =>
      rich('Your import of {video} failed.', {
        video: html`<bdi>${shortText(imported?.target_url ?? imported?.torrent_name ?? '') || t('a video')}</bdi>`,
      }),
    newUserRegistration: () => rich('{name} registered.', { name: who(account) }),
    newUserRegistrationRequest: () =>
      rich('{name} requests an account.', { name: html`<a href="/admin/registrations"><bdi>${registration?.username}</bdi></a>` }),
    newFollow: () =>
      follow?.following.type === 'channel'
        ? rich('{name} subscribed to your channel {channel}.', {
            name: who(follow.follower),
            channel: html`<bdi>${follow.following.name}</bdi>`,
          })
        : rich('{name} subscribed to you.', { name: who(follow?.follower) }),
    newInstanceFollower: () => html`${t('The server {host} follows this server.', { host: follow?.follower.host ?? '' })}`,
    autoInstanceFollowing: () => html`${t('This server follows {host} now.', { host: follow?.following.host ?? '' })}`,
    newPluginVersion: () =>
      html`${t('Version {version} of {plugin} is there.', { version: row.plugin?.latest_version ?? '', plugin: row.plugin?.npm_name ?? '' })}`,
    newPeerTubeVersion: () => html`${t('Version {version} of the software is there.', { version: row.application_version ?? '' })}`,
  }
  return (name && tells[name]?.()) ?? OTHER
}
