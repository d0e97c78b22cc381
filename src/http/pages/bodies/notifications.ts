// The notifications of a user, as sentences with a link to the page if there is one.

import type { ActorInfoRow, NotificationRow, NotificationType, VideoInfoRow } from '../../../actors/notification/index.ts'
import { notificationTypes } from '../../../actors/notification/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { accountPath, channelPath, handleOf, watchPath } from '../addresses.ts'
import { pager } from './listing.ts'
import { day } from './text.ts'

export interface NotificationsPage {
  rows: readonly NotificationRow[]
  /** Of the page without its number. */
  path: string
  page: number
  hasMore: boolean
  token: string
}

export function notificationsBody({ rows, path, token, ...pages }: NotificationsPage): Html {
  const choose = html`<p><a href="/my-account/settings#notifications">Choose your notifications</a></p>`
  if (rows.length === 0) return html`<p class="soft">No notifications.</p>${choose}${pager(path, pages)}`
  return html`${choose}${
    rows.some(({ read }) => !read) &&
    html`<form method="post" action="/my-account/notifications/read-all"><input type="hidden" name="token" value="${token}"><button>Mark all as read</button></form>`
  }
<ul class="notifications">${rows.map(
    (row) =>
      html`<li><p>${!row.read && html`<span class="mark">New</span> `}${sentenceOf(row)} <span class="soft">${day(new Date(row.created_at))}</span></p></li>
`,
  )}</ul>${pager(path, pages)}`
}

const NAMES = new Map<number, NotificationType>(Object.entries(notificationTypes).map(([name, type]) => [type, name as NotificationType]))

/** Names can be chosen freely, so those of others are shown with their handle. */
const who = (actor: Pick<ActorInfoRow, 'name' | 'username' | 'host'> | null | undefined, path = accountPath): Html =>
  actor ? html`<a href="${path(actor)}"><bdi>${actor.name}</bdi></a> <span class="soft">@${handleOf(actor)}</span>` : html`Somebody`

const named = (video: VideoInfoRow | null | undefined): Html =>
  video ? html`<a href="${watchPath(video)}"><bdi>${video.name}</bdi></a>` : html`a removed video`

/** The text for kinds that this version does not know. */
const OTHER = html`Something happened that an app or another web client shows.`

function sentenceOf(row: NotificationRow): Html {
  const { video, comment, abuse, block, follow, account, registration } = row
  const name = NAMES.get(row.type)
  const inThread = () =>
    comment && html`<a href="${watchPath(comment.video)}?threadId=${comment.thread_id}#comments"><bdi>${comment.video.name}</bdi></a>`
  const tells: Partial<Record<NotificationType, () => Html>> = {
    newVideoFromSubscription: () => html`${who(video?.channel, channelPath)} published ${named(video)}.`,
    newLiveFromSubscription: () => html`${who(video?.channel, channelPath)} started the live stream ${named(video)}.`,
    newCommentOnMyVideo: () =>
      html`${who(comment?.account)} wrote a comment on ${inThread()}${comment?.held && ', which awaits your approval'}.`,
    commentMention: () => html`${who(comment?.account)} mentioned you in a comment on ${inThread()}.`,
    newAbuseForModerators: () => html`A report, number ${abuse?.id}, waits for the moderators.`,
    abuseStateChange: () => html`Your report, number ${abuse?.id}, was ${abuse?.state}.`,
    abuseNewMessage: () => html`There is a message about report number ${abuse?.id}.`,
    blacklistOnMyVideo: () => html`Your video ${named(block?.video ?? video)} was blocked.`,
    unblacklistOnMyVideo: () => html`Your video ${named(video)} is no longer blocked.`,
    videoAutoBlacklistForModerators: () => html`The video ${named(block?.video ?? video)} waits for a review.`,
    myVideoPublished: () => html`Your video ${named(video)} is published.`,
    myVideoStudioEditionFinished: () => html`Your video ${named(video)} is edited.`,
    myVideoImportSuccess: () => html`Your import of ${named(row.import?.video)} is done.`,
    myVideoImportError: () => html`Your import of <bdi>${row.import?.target_url ?? row.import?.torrent_name ?? 'a video'}</bdi> failed.`,
    newUserRegistration: () => html`${who(account)} registered.`,
    newUserRegistrationRequest: () => html`<bdi>${registration?.username}</bdi> requests an account.`,
    newFollow: () =>
      html`${who(follow?.follower)} subscribed to ${follow?.following.type === 'channel' ? html`your channel <bdi>${follow.following.name}</bdi>` : 'you'}.`,
    newInstanceFollower: () => html`The server ${follow?.follower.host} follows this server.`,
    autoInstanceFollowing: () => html`This server follows ${follow?.following.host} now.`,
    newPeerTubeVersion: () => html`Version ${row.application_version} of the software is there.`,
  }
  return (name && tells[name]?.()) ?? OTHER
}
