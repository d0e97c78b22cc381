// What the mail of each notification says: one fact, the words that belong to it, and one link to the page of the web client where
// it can be dealt with.

import * as pages from './client-pages.ts'
import type { Letter } from './layout.ts'
import type { Notice, NoticeKind } from './notices.ts'
import { cut, excerpt } from './words.ts'

/** A letter without the words round it; `item`: the same on one line, where it is one of several. */
export interface Told {
  subject: string
  heading: string
  says: string
  quote?: string
  /** What there is to add after what is quoted. */
  adds?: string
  link: string
  url: string
  item: string
}

/** Characters of a name, and of what somebody wrote. */
const NAME = 120
const TEXT = 1000
const ITEM_TEXT = 140
const SUBJECT = 140

type Tell<K extends NoticeKind> = (notice: Extract<Notice, { kind: K }>, page: (path: string) => string) => Told

const title = ({ name }: { name: string }): string => `“${cut(name, NAME) || 'untitled'}”`
const chosen = (name: string): string => cut(name, NAME) || '(no name)'
/** A name that anybody may choose stands with the handle, which nobody else has. */
const full = ({ name, handle }: { name: string; handle: string }): string => {
  const [shown, known] = [cut(name, NAME), cut(handle, 2 * NAME)]
  return shown === '' || shown === known ? known : `${shown} (${known})`
}
const part = (text: string): string => cut(text, ITEM_TEXT)
const numbered = ({ id, kind }: { id: number; kind: string }): string =>
  `report #${id} about ${kind === 'account' ? 'an' : 'a'} ${kind}`

const letters: { [K in NoticeKind]: Tell<K> } = {
  newVideoFromSubscription: ({ video, channel }, page) => ({
    subject: `New video of ${chosen(channel.name)}: ${chosen(video.name)}`,
    heading: 'A new video',
    says: `${full(channel)} published ${title(video)}.`,
    link: 'Watch it',
    url: page(pages.watch(video)),
    item: `${title(video)}, by ${full(channel)}`,
  }),

  newCommentOnMyVideo: ({ video, author, text, threadId, isHeld }, page) => ({
    subject: `${isHeld ? 'A comment waits' : 'A comment'} on ${title(video)}`,
    heading: isHeld ? 'A comment waits for your approval' : 'A new comment',
    says: `${full(author)} wrote on your video ${title(video)}:`,
    quote: text,
    ...(isHeld ? { adds: 'Others do not see it until you approve it.' } : {}),
    link: isHeld ? 'Decide on it' : 'Read and answer it',
    url: page(isHeld ? pages.heldComments : pages.thread(video, threadId)),
    item: `${full(author)} on ${title(video)}${isHeld ? ', which waits for your approval' : ''}: ${part(text)}`,
  }),

  commentMention: ({ video, author, text, threadId }, page) => ({
    subject: `A comment on ${title(video)} mentions you`,
    heading: 'You were mentioned',
    says: `${full(author)} mentioned you in a comment on the video ${title(video)}:`,
    quote: text,
    link: 'Read and answer it',
    url: page(pages.thread(video, threadId)),
    item: `${full(author)} on ${title(video)}: ${part(text)}`,
  }),

  newAbuseForModerators: ({ report }, page) => {
    const { reporter, reported, videoName, reason, predefinedReasons } = report
    const on = videoName === null ? '' : ` ${title({ name: videoName })}`
    const what = {
      video: `the video${on} of ${chosen(reported)}`,
      comment: `a comment of ${chosen(reported)} on the video${on}`,
      account: `the account ${chosen(reported)}`,
    }[report.kind]
    const reasons = predefinedReasons.length === 0 ? '' : ` (${predefinedReasons.join(', ')})`
    return {
      subject: `Report #${report.id}: ${what}`,
      heading: 'A new report',
      says: `${chosen(reporter)} reported ${what}${reasons}:`,
      quote: reason,
      link: 'Decide on it',
      url: page(pages.report(report)),
      item: `#${report.id}, ${what}${reasons}: ${part(reason)}`,
    }
  },

  abuseStateChange: ({ report, isAccepted }, page) => {
    const how = isAccepted ? 'accepted' : 'rejected'
    return {
      subject: `Your report #${report.id} was ${how}`,
      heading: `Your report was ${how}`,
      says: `The moderators ${how} your ${numbered(report)}.`,
      link: 'See your reports',
      url: page(pages.ownReport(report)),
      item: `#${report.id} was ${how}`,
    }
  },

  abuseNewMessage: ({ report, author, text }, page) => ({
    subject: `A message about report #${report.id}`,
    heading: 'A message about a report',
    says: `${author === null ? 'The moderators' : chosen(author)} wrote about ${author === null ? 'your ' : ''}${numbered(report)}:`,
    quote: text,
    link: 'Read and answer it',
    url: page(author === null ? pages.ownReport(report) : pages.report(report)),
    item: `#${report.id}, ${author === null ? 'the moderators' : chosen(author)}: ${part(text)}`,
  }),

  videoAutoBlacklistForModerators: ({ video, channel }, page) => ({
    subject: `A video waits for a review: ${chosen(video.name)}`,
    heading: 'A video waits for a review',
    says: `The video ${title(video)} of ${full(channel)} is blocked until one of the moderators has looked at it.`,
    link: 'Decide on it',
    url: page(pages.videosToReview),
    item: `${title(video)}, of ${full(channel)}`,
  }),

  blacklistOnMyVideo: ({ video, reason }, page) => ({
    subject: `Your video ${title(video)} was blocked`,
    heading: 'Your video was blocked',
    says: `The moderators blocked your video ${title(video)}: others cannot watch it any more.${reason ? ' They write:' : ''}`,
    ...(reason ? { quote: reason } : {}),
    link: 'See your video',
    url: page(pages.watch(video)),
    item: `${title(video)}${reason ? `: ${part(reason)}` : ''}`,
  }),

  unblacklistOnMyVideo: ({ video }, page) => ({
    subject: `Your video ${title(video)} is no longer blocked`,
    heading: 'Your video is no longer blocked',
    says: `The moderators ended the block of your video ${title(video)}: others can watch it again.`,
    link: 'See your video',
    url: page(pages.watch(video)),
    item: title(video),
  }),

  myVideoPublished: ({ video }, page) => ({
    subject: `Your video ${title(video)} is published`,
    heading: 'Your video is published',
    says: `Your video ${title(video)} is ready and published.`,
    link: 'See your video',
    url: page(pages.watch(video)),
    item: title(video),
  }),

  myVideoStudioEditionFinished: ({ video }, page) => ({
    subject: `Your video ${title(video)} is edited`,
    heading: 'Your video is edited',
    says: `The changes that you asked for in the studio are made: ${title(video)} is ready.`,
    link: 'See your video',
    url: page(pages.watch(video)),
    item: title(video),
  }),

  myVideoImportSuccess: ({ source, video }, page) => ({
    subject: `The import of ${title(video)} is done`,
    heading: 'Your import is done',
    says: `Your import of ${chosen(source)} is done: the video ${title(video)} is here.`,
    link: 'See your video',
    url: page(pages.watch(video)),
    item: title(video),
  }),

  myVideoImportError: ({ source }, page) => ({
    subject: `The import of ${chosen(source)} failed`,
    heading: 'Your import failed',
    says: `Your import of ${chosen(source)} failed. The list of your imports says why.`,
    link: 'See your imports',
    url: page(pages.imports),
    item: chosen(source),
  }),

  newUserRegistration: ({ user }, page) => ({
    subject: `A new account: ${chosen(user.handle)}`,
    heading: 'A new account',
    says: `${full(user)} registered.`,
    link: 'See the users',
    url: page(pages.users),
    item: full(user),
  }),

  newUserRegistrationRequest: ({ username, reason }, page) => ({
    subject: `${chosen(username)} asks for an account`,
    heading: 'A request for an account',
    says: `${chosen(username)} asks for an account, for this reason:`,
    quote: reason,
    link: 'Decide on it',
    url: page(pages.registrations),
    item: `${chosen(username)}: ${part(reason)}`,
  }),

  newFollow: ({ follower, following }, page) => {
    const whom = following.isChannel ? `your channel ${full(following)}` : 'you'
    return {
      subject: `${chosen(follower.name)} subscribed to ${following.isChannel ? chosen(following.name) : 'you'}`,
      heading: 'A new subscriber',
      says: `${full(follower)} subscribed to ${whom}.`,
      link: 'See your subscribers',
      url: page(pages.followers),
      item: `${full(follower)} subscribed to ${whom}`,
    }
  },

  newInstanceFollower: ({ follower, isPending }, page) => ({
    subject: `${chosen(follower.handle)} ${isPending ? 'asks to follow' : 'follows'} this server`,
    heading: isPending ? 'A request to follow this server' : 'A new follower of this server',
    says: isPending
      ? `${full(follower)} asks to follow this server, and waits for your approval.`
      : `${full(follower)} follows this server.`,
    link: isPending ? 'Decide on it' : 'See the followers',
    url: page(pages.serverFollowers),
    item: `${full(follower)}${isPending ? ', who waits for your approval' : ''}`,
  }),

  autoInstanceFollowing: ({ following }, page) => ({
    subject: `This server follows ${chosen(following.handle)} now`,
    heading: 'A new server is followed',
    says: `This server follows ${full(following)} now, by the rules of its configuration.`,
    link: 'See whom this server follows',
    url: page(pages.serverFollowing),
    item: full(following),
  }),

  newPeerTubeVersion: ({ version }, page) => ({
    subject: `Version ${chosen(version)} of the software is there`,
    heading: 'A new version',
    says: `Version ${chosen(version)} of the software of this server is there.`,
    link: 'See what runs here',
    url: page(pages.system),
    item: `Version ${chosen(version)}`,
  }),
}

/** `origin`: of this server, for the links. */
export function tellOf(notice: Notice, origin: string): Told {
  // One entry of the table for each kind of the union: the compiler cannot follow a lookup by the kind itself.
  const tell = letters[notice.kind] as (notice: Notice, page: (path: string) => string) => Told
  return tell(notice, (path) => `${origin}${path}`)
}

/** The letter of one notification, without the small print. */
export function letterOf(notice: Notice, origin: string): Letter {
  const { subject, heading, says, quote, adds, link, url } = tellOf(notice, origin)
  const quoted = quote === undefined ? '' : excerpt(quote, TEXT)
  return {
    subject: cut(subject, SUBJECT),
    heading,
    blocks: [
      { say: says },
      ...(quoted === '' ? [] : [{ quote: quoted }]),
      ...(adds === undefined ? [] : [{ say: adds }]),
      { link, url },
    ],
  }
}
