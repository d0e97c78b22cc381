// The text of each notification's mail: one fact, its quotation, and one link to the page of the web client where it can be handled.

import * as pages from './client-pages.ts'
import type { Letter } from './layout.ts'
import type { Notice, NoticeKind } from './notices.ts'
import { cut, excerpt } from './untrusted-text.ts'

/** A letter without its frame; `item`: the same on one line, for a list. */
export interface Told {
  subject: string
  heading: string
  says: string
  /** In Markdown. */
  quote?: string
  /** Text after the quotation. */
  adds?: string
  link: string
  url: string
  item: string
}

/** Maximum characters of a name, and of a quotation. */
const NAME = 120
const TEXT = 1000
const ITEM_TEXT = 140
const SUBJECT = 140

type Tell<K extends NoticeKind> = (notice: Extract<Notice, { kind: K }>, page: (path: string) => string) => Told

const title = ({ name }: { name: string }): string => `“${cut(name, NAME) || 'untitled'}”`
const chosen = (name: string): string => cut(name, NAME) || '(no name)'
/** Freely chosen names are shown with the unique handle. */
const full = ({ name, handle }: { name: string; handle: string }): string => {
  const [shown, known] = [cut(name, NAME), cut(handle, 2 * NAME)]
  return shown === '' || shown === known ? known : `${shown} (${known})`
}
const part = (text: string): string => cut(text, ITEM_TEXT)
const numbered = ({ id, kind }: { id: number; kind: string }): string => `report #${id} about ${kind === 'account' ? 'an' : 'a'} ${kind}`

const letters: { [K in NoticeKind]: Tell<K> } = {
  newVideoFromSubscription: ({ video, channel }, page) => ({
    subject: `New video by ${chosen(channel.name)}: ${chosen(video.name)}`,
    heading: 'A new video',
    says: `${full(channel)} published ${title(video)}.`,
    link: 'Watch the video',
    url: page(pages.watch(video)),
    item: `${title(video)}, by ${full(channel)}`,
  }),

  newLiveFromSubscription: ({ video, channel }, page) => ({
    subject: `Live now by ${chosen(channel.name)}: ${chosen(video.name)}`,
    heading: 'A live stream has started',
    says: `${full(channel)} is live with ${title(video)}.`,
    link: 'Watch the live stream',
    url: page(pages.watch(video)),
    item: `${title(video)}, by ${full(channel)}`,
  }),

  newCommentOnMyVideo: ({ video, author, text, threadId, isPendingReview }, page) => ({
    subject: `${isPendingReview ? 'Comment awaiting your approval' : 'New comment'} on your video ${title(video)}`,
    heading: isPendingReview ? 'A comment awaits your approval' : 'New comment',
    says: `${full(author)} commented on your video ${title(video)}:`,
    quote: text,
    ...(isPendingReview ? { adds: 'Nobody else sees the comment until you approve it.' } : {}),
    link: isPendingReview ? 'Approve or delete the comment' : 'Read and reply',
    url: page(isPendingReview ? pages.heldComments : pages.thread(video, threadId)),
    item: `${full(author)} on ${title(video)}${isPendingReview ? ', awaiting your approval' : ''}: ${part(text)}`,
  }),

  commentMention: ({ video, author, text, threadId }, page) => ({
    subject: `${chosen(author.name)} mentioned you in a comment on ${title(video)}`,
    heading: 'You were mentioned in a comment',
    says: `${full(author)} mentioned you in a comment on the video ${title(video)}:`,
    quote: text,
    link: 'Read and reply',
    url: page(pages.thread(video, threadId)),
    item: `${full(author)} on ${title(video)}: ${part(text)}`,
  }),

  newAbuseForModerators: ({ report }, page) => {
    const { reporter, reported, videoName, reason, predefinedReasons } = report
    const on = videoName === null ? '' : ` ${title({ name: videoName })}`
    const what = {
      video: `the video${on} by ${chosen(reported)}`,
      comment: `a comment by ${chosen(reported)} on the video${on}`,
      account: `the account ${chosen(reported)}`,
    }[report.kind]
    const reasons = predefinedReasons.length === 0 ? '' : ` (${predefinedReasons.join(', ')})`
    return {
      subject: `New abuse report #${report.id}: ${what}`,
      heading: 'New abuse report',
      says: `${chosen(reporter)} reported ${what}${reasons}:`,
      quote: reason,
      link: 'Review the report',
      url: page(pages.report(report)),
      item: `#${report.id}, ${what}${reasons}: ${part(reason)}`,
    }
  },

  abuseStateChange: ({ report, isAccepted }, page) => {
    const how = isAccepted ? 'accepted' : 'rejected'
    return {
      subject: `Your abuse report #${report.id} was ${how}`,
      heading: `Your abuse report was ${how}`,
      says: `The moderators ${how} your ${numbered(report)}.`,
      link: 'See your reports',
      url: page(pages.ownReport(report)),
      item: `#${report.id} was ${how}`,
    }
  },

  abuseNewMessage: ({ report, author, text }, page) => ({
    subject: `New message about abuse report #${report.id}`,
    heading: 'New message about an abuse report',
    says: `${author === null ? 'The moderators' : chosen(author)} wrote about ${author === null ? 'your ' : ''}${numbered(report)}:`,
    quote: text,
    link: 'Read and reply',
    url: page(author === null ? pages.ownReport(report) : pages.report(report)),
    item: `#${report.id}, ${author === null ? 'the moderators' : chosen(author)}: ${part(text)}`,
  }),

  videoAutoBlacklistForModerators: ({ video, channel }, page) => ({
    subject: `New video awaiting review: ${chosen(video.name)}`,
    heading: 'New video awaiting review',
    says: `The video ${title(video)} by ${full(channel)} was blocked automatically and stays blocked until a moderator reviews it.`,
    link: 'Review the video',
    url: page(pages.videosToReview),
    item: `${title(video)}, by ${full(channel)}`,
  }),

  blacklistOnMyVideo: ({ video, reason }, page) => ({
    subject: `Your video ${title(video)} was blocked`,
    heading: 'Your video was blocked',
    says: `The moderators blocked your video ${title(video)}: nobody else can watch it.${reason ? ' They wrote:' : ''}`,
    ...(reason ? { quote: reason } : {}),
    link: 'See your video',
    url: page(pages.watch(video)),
    item: `${title(video)}${reason ? `: ${part(reason)}` : ''}`,
  }),

  unblacklistOnMyVideo: ({ video }, page) => ({
    subject: `Your video ${title(video)} was unblocked`,
    heading: 'Your video was unblocked',
    says: `The moderators unblocked your video ${title(video)}: others can watch it again.`,
    link: 'See your video',
    url: page(pages.watch(video)),
    item: title(video),
  }),

  myVideoPublished: ({ video }, page) => ({
    subject: `Your video ${title(video)} was published`,
    heading: 'Your video was published',
    says: `Your video ${title(video)} is ready and published.`,
    link: 'See your video',
    url: page(pages.watch(video)),
    item: title(video),
  }),

  myVideoStudioEditionFinished: ({ video }, page) => ({
    subject: `Your video ${title(video)} was edited`,
    heading: 'Your video was edited',
    says: `Your edits in the studio are finished: the video ${title(video)} is ready.`,
    link: 'See your video',
    url: page(pages.watch(video)),
    item: title(video),
  }),

  myVideoImportSuccess: ({ source, video }, page) => ({
    subject: `Your video import ${title(video)} is finished`,
    heading: 'Your video import is finished',
    says: `The import of ${chosen(source)} is finished: ${title(video)} is available.`,
    link: 'See your video',
    url: page(pages.watch(video)),
    item: title(video),
  }),

  myVideoImportError: ({ source }, page) => ({
    subject: `Your video import ${chosen(source)} failed`,
    heading: 'Your video import failed',
    says: `Your import of ${chosen(source)} failed. The list of your imports shows the reason.`,
    link: 'See your imports',
    url: page(pages.imports),
    item: chosen(source),
  }),

  newUserRegistration: ({ user }, page) => ({
    subject: `New user registered: ${chosen(user.handle)}`,
    heading: 'New user registered',
    says: `${full(user)} registered on this server.`,
    link: 'See the users',
    url: page(pages.users),
    item: full(user),
  }),

  newUserRegistrationRequest: ({ username, reason }, page) => ({
    subject: `New registration request: ${chosen(username)}`,
    heading: 'New registration request',
    says: `${chosen(username)} requests an account and gives this reason:`,
    quote: reason,
    link: 'Accept or reject the request',
    url: page(pages.registrations),
    item: `${chosen(username)}: ${part(reason)}`,
  }),

  newFollow: ({ follower, following }, page) => {
    const whom = following.isChannel ? `your channel ${full(following)}` : 'you'
    return {
      subject: `${chosen(follower.name)} subscribed to ${following.isChannel ? chosen(following.name) : 'you'}`,
      heading: 'New subscriber',
      says: `${full(follower)} subscribed to ${whom}.`,
      link: 'See your subscribers',
      url: page(pages.followers),
      item: `${full(follower)} subscribed to ${whom}`,
    }
  },

  newInstanceFollower: ({ follower, isPending }, page) => ({
    subject: `${isPending ? 'New follower awaiting approval' : 'New follower of this server'}: ${chosen(follower.handle)}`,
    heading: isPending ? 'New follower awaiting approval' : 'New follower of this server',
    says: isPending
      ? `${full(follower)} requests to follow this server and awaits your approval.`
      : `${full(follower)} follows this server.`,
    link: isPending ? 'Accept or reject the follower' : 'See the followers',
    url: page(pages.serverFollowers),
    item: `${full(follower)}${isPending ? ', awaiting your approval' : ''}`,
  }),

  autoInstanceFollowing: ({ following }, page) => ({
    subject: `This server now follows ${chosen(following.handle)}`,
    heading: 'New server followed',
    says: `This server now follows ${full(following)}, because its configuration follows servers automatically.`,
    link: 'See the followed servers',
    url: page(pages.serverFollowing),
    item: full(following),
  }),

  newPeerTubeVersion: ({ version }, page) => ({
    subject: `A new version of the software is available: ${chosen(version)}`,
    heading: 'A new version is available',
    says: `Version ${chosen(version)} of the software of this server is available.`,
    link: 'See the installed version',
    url: page(pages.system),
    item: `Version ${chosen(version)}`,
  }),
}

/** `origin`: of this server, for the links. */
export function noticeTextOf(notice: Notice, origin: string): Told {
  // One entry of the table for each kind of the union: the compiler cannot follow a lookup by the kind itself.
  const tell = letters[notice.kind] as (notice: Notice, page: (path: string) => string) => Told
  return tell(notice, (path) => `${origin}${path}`)
}

/** The letter of one notification, without the small print. */
export function letterOf(notice: Notice, origin: string): Letter {
  const { subject, heading, says, quote, adds, link, url } = noticeTextOf(notice, origin)
  const quoted = quote === undefined ? '' : excerpt(quote, TEXT)
  return {
    subject: cut(subject, SUBJECT),
    heading,
    blocks: [
      { say: says },
      ...(quoted === '' ? [] : [{ markdown: quoted }]),
      ...(adds === undefined ? [] : [{ say: adds }]),
      { link, url },
    ],
  }
}
