// The text of each notification's mail: one fact, its quotation, and one link to the page of the web client where it can be handled.

import { Localized, t, type Word, wordIn } from '../../../platform/language.ts'
import * as pages from './client-pages.ts'
import type { Letter } from './layout.ts'
import type { Notice, NoticeKind } from './notices.ts'
import { cut, excerpt } from './untrusted-text.ts'

/** A letter without its frame; `item`: the same on one line, for a list. */
export interface Told {
  subject: Word
  heading: Word
  says: Word
  /** In Markdown. */
  quote?: string
  /** Text after the quotation. */
  adds?: Word
  link: Word
  url: string
  item: Word
}

/** Maximum characters of a name, and of a quotation. */
const NAME = 120
const TEXT = 1000
const ITEM_TEXT = 140
const SUBJECT = 140

type Tell<K extends NoticeKind> = (notice: Extract<Notice, { kind: K }>, page: (path: string) => string) => Told

const title = ({ name }: { name: string }): Word => {
  const shown = cut(name, NAME)
  return shown === '' ? t('“untitled”') : t('“{name}”', { name: shown })
}
const chosen = (name: string): Word => cut(name, NAME) || t('(no name)')
/** Freely chosen names are shown with the unique handle. */
const full = ({ name, handle }: { name: string; handle: string }): string => {
  const [shown, known] = [cut(name, NAME), cut(handle, 2 * NAME)]
  return shown === '' || shown === known ? known : `${shown} (${known})`
}
const part = (text: string): string => cut(text, ITEM_TEXT)
/** Ids are no numbers to be grouped. */
const numberOf = ({ id }: { id: number }): string => String(id)
const REPORTS = {
  video: (id: string) => t('report #{id} about a video', { id }),
  comment: (id: string) => t('report #{id} about a comment', { id }),
  account: (id: string) => t('report #{id} about an account', { id }),
}
const numbered = (report: { id: number; kind: keyof typeof REPORTS }): Word => REPORTS[report.kind](numberOf(report))
const byChannel = (video: { name: string }, channel: { name: string; handle: string }): Word =>
  t('{video}, by {channel}', { video: title(video), channel: full(channel) })
/** What is said of one thing in a list: `thing: said`. */
const about = (thing: Word, said: string): Word => t('{thing}: {said}', { thing, said })

const letters: { [K in NoticeKind]: Tell<K> } = {
  newVideoFromSubscription: ({ video, channel }, page) => ({
    subject: t('New video by {channel}: {video}', { channel: chosen(channel.name), video: chosen(video.name) }),
    heading: t('A new video'),
    says: t('{channel} published {video}.', { channel: full(channel), video: title(video) }),
    link: t('Watch the video'),
    url: page(pages.watch(video)),
    item: byChannel(video, channel),
  }),

  newLiveFromSubscription: ({ video, channel }, page) => ({
    subject: t('Live now by {channel}: {video}', { channel: chosen(channel.name), video: chosen(video.name) }),
    heading: t('A live stream has started'),
    says: t('{channel} is live with {video}.', { channel: full(channel), video: title(video) }),
    link: t('Watch the live stream'),
    url: page(pages.watch(video)),
    item: byChannel(video, channel),
  }),

  newCommentOnMyVideo: ({ video, author, text, threadId, isPendingReview }, page) => {
    const on = t('{author} on {video}', { author: full(author), video: title(video) })
    const says = t('{author} commented on your video {video}:', { author: full(author), video: title(video) })
    if (isPendingReview) {
      return {
        subject: t('Comment awaiting your approval on your video {video}', { video: title(video) }),
        heading: t('A comment awaits your approval'),
        says,
        quote: text,
        adds: t('Nobody else sees the comment until you approve it.'),
        link: t('Approve or delete the comment'),
        url: page(pages.heldComments),
        item: about(t('{comment}, awaiting your approval', { comment: on }), part(text)),
      }
    }
    return {
      subject: t('New comment on your video {video}', { video: title(video) }),
      heading: t('New comment'),
      says,
      quote: text,
      link: t('Read and reply'),
      url: page(pages.thread(video, threadId)),
      item: about(on, part(text)),
    }
  },

  commentMention: ({ video, author, text, threadId }, page) => ({
    subject: t('{author} mentioned you in a comment on {video}', { author: chosen(author.name), video: title(video) }),
    heading: t('You were mentioned in a comment'),
    says: t('{author} mentioned you in a comment on the video {video}:', { author: full(author), video: title(video) }),
    quote: text,
    link: t('Read and reply'),
    url: page(pages.thread(video, threadId)),
    item: about(t('{author} on {video}', { author: full(author), video: title(video) }), part(text)),
  }),

  newAbuseForModerators: ({ report }, page) => {
    const { reporter, reported, videoName, reason, predefinedReasons } = report
    const given = { account: chosen(reported), video: videoName === null ? '' : title({ name: videoName }) }
    const whole = {
      video: t('the video {video} by {account}', given),
      comment: t('a comment by {account} on the video {video}', given),
      account: t('the account {account}', given),
    }[report.kind]
    const what = predefinedReasons.length === 0 ? whole : t('{what} ({reasons})', { what: whole, reasons: predefinedReasons.join(', ') })
    const id = numberOf(report)
    return {
      subject: t('New abuse report #{id}: {what}', { id, what: whole }),
      heading: t('New abuse report'),
      says: t('{reporter} reported {what}:', { reporter: chosen(reporter), what }),
      quote: reason,
      link: t('Review the report'),
      url: page(pages.report(report)),
      item: about(t('#{id}, {what}', { id, what }), part(reason)),
    }
  },

  abuseStateChange: ({ report, isAccepted }, page) => {
    const [id, reported] = [numberOf(report), numbered(report)]
    const letter = isAccepted
      ? {
          subject: t('Your abuse report #{id} was accepted', { id }),
          heading: t('Your abuse report was accepted'),
          says: t('The moderators accepted your {report}.', { report: reported }),
          item: t('#{id} was accepted', { id }),
        }
      : {
          subject: t('Your abuse report #{id} was rejected', { id }),
          heading: t('Your abuse report was rejected'),
          says: t('The moderators rejected your {report}.', { report: reported }),
          item: t('#{id} was rejected', { id }),
        }
    return { ...letter, link: t('See your reports'), url: page(pages.ownReport(report)) }
  },

  abuseNewMessage: ({ report, author, text }, page) => {
    const id = numberOf(report)
    const who = author === null ? t('the moderators') : chosen(author)
    return {
      subject: t('New message about abuse report #{id}', { id }),
      heading: t('New message about an abuse report'),
      says:
        author === null
          ? t('The moderators wrote about your {report}:', { report: numbered(report) })
          : t('{author} wrote about {report}:', { author: who, report: numbered(report) }),
      quote: text,
      link: t('Read and reply'),
      url: page(author === null ? pages.ownReport(report) : pages.report(report)),
      item: about(t('#{id}, {author}', { id, author: who }), part(text)),
    }
  },

  videoAutoBlacklistForModerators: ({ video, channel }, page) => ({
    subject: t('New video awaiting review: {video}', { video: chosen(video.name) }),
    heading: t('New video awaiting review'),
    says: t('The video {video} by {channel} was blocked automatically and stays blocked until a moderator reviews it.', {
      video: title(video),
      channel: full(channel),
    }),
    link: t('Review the video'),
    url: page(pages.videosToReview),
    item: byChannel(video, channel),
  }),

  blacklistOnMyVideo: ({ video, reason }, page) => ({
    subject: t('Your video {video} was blocked', { video: title(video) }),
    heading: t('Your video was blocked'),
    says: reason
      ? t('The moderators blocked your video {video}: nobody else can watch it. They wrote:', { video: title(video) })
      : t('The moderators blocked your video {video}: nobody else can watch it.', { video: title(video) }),
    ...(reason ? { quote: reason } : {}),
    link: t('See your video'),
    url: page(pages.watch(video)),
    item: reason ? about(title(video), part(reason)) : title(video),
  }),

  unblacklistOnMyVideo: ({ video }, page) => ({
    subject: t('Your video {video} was unblocked', { video: title(video) }),
    heading: t('Your video was unblocked'),
    says: t('The moderators unblocked your video {video}: others can watch it again.', { video: title(video) }),
    link: t('See your video'),
    url: page(pages.watch(video)),
    item: title(video),
  }),

  myVideoPublished: ({ video }, page) => ({
    subject: t('Your video {video} was published', { video: title(video) }),
    heading: t('Your video was published'),
    says: t('Your video {video} is ready and published.', { video: title(video) }),
    link: t('See your video'),
    url: page(pages.watch(video)),
    item: title(video),
  }),

  myVideoStudioEditionFinished: ({ video }, page) => ({
    subject: t('Your video {video} was edited', { video: title(video) }),
    heading: t('Your video was edited'),
    says: t('Your edits in the studio are finished: the video {video} is ready.', { video: title(video) }),
    link: t('See your video'),
    url: page(pages.watch(video)),
    item: title(video),
  }),

  myVideoTranscriptionGenerated: ({ video, language }, page) => ({
    subject: t('Your video {video} has captions', { video: title(video) }),
    heading: t('Captions were made for your video'),
    says: t('Captions in {language} were made from the sound of your video {video}.', { language, video: title(video) }),
    link: t('See your video'),
    url: page(pages.watch(video)),
    item: t('{video} ({language})', { video: title(video), language }),
  }),

  myVideoImportSuccess: ({ source, video }, page) => ({
    subject: t('Your video import {video} is finished', { video: title(video) }),
    heading: t('Your video import is finished'),
    says: t('The import of {source} is finished: {video} is available.', { source: chosen(source), video: title(video) }),
    link: t('See your video'),
    url: page(pages.watch(video)),
    item: title(video),
  }),

  myVideoImportError: ({ source }, page) => ({
    subject: t('Your video import {source} failed', { source: chosen(source) }),
    heading: t('Your video import failed'),
    says: t('Your import of {source} failed. The list of your imports shows the reason.', { source: chosen(source) }),
    link: t('See your imports'),
    url: page(pages.imports),
    item: chosen(source),
  }),

  newUserRegistration: ({ user }, page) => ({
    subject: t('New user registered: {user}', { user: chosen(user.handle) }),
    heading: t('New user registered'),
    says: t('{user} registered on this server.', { user: full(user) }),
    link: t('See the users'),
    url: page(pages.users),
    item: full(user),
  }),

  newUserRegistrationRequest: ({ username, reason }, page) => ({
    subject: t('New registration request: {username}', { username: chosen(username) }),
    heading: t('New registration request'),
    says: t('{username} requests an account and gives this reason:', { username: chosen(username) }),
    quote: reason,
    link: t('Accept or reject the request'),
    url: page(pages.registrations),
    item: about(chosen(username), part(reason)),
  }),

  newFollow: ({ follower, following }, page) => {
    const given = { follower: full(follower), channel: full(following) }
    return {
      subject: following.isChannel
        ? t('{follower} subscribed to {channel}', { follower: chosen(follower.name), channel: chosen(following.name) })
        : t('{follower} subscribed to you', { follower: chosen(follower.name) }),
      heading: t('New subscriber'),
      says: following.isChannel
        ? t('{follower} subscribed to your channel {channel}.', given)
        : t('{follower} subscribed to you.', { follower: given.follower }),
      link: t('See your subscribers'),
      url: page(pages.followers),
      item: following.isChannel
        ? t('{follower} subscribed to your channel {channel}', given)
        : t('{follower} subscribed to you', { follower: given.follower }),
    }
  },

  newInstanceFollower: ({ follower, isPending }, page) =>
    isPending
      ? {
          subject: t('New follower awaiting approval: {follower}', { follower: chosen(follower.handle) }),
          heading: t('New follower awaiting approval'),
          says: t('{follower} requests to follow this server and awaits your approval.', { follower: full(follower) }),
          link: t('Accept or reject the follower'),
          url: page(pages.serverFollowers),
          item: t('{follower}, awaiting your approval', { follower: full(follower) }),
        }
      : {
          subject: t('New follower of this server: {follower}', { follower: chosen(follower.handle) }),
          heading: t('New follower of this server'),
          says: t('{follower} follows this server.', { follower: full(follower) }),
          link: t('See the followers'),
          url: page(pages.serverFollowers),
          item: full(follower),
        },

  autoInstanceFollowing: ({ following }, page) => ({
    subject: t('This server now follows {server}', { server: chosen(following.handle) }),
    heading: t('New server followed'),
    says: t('This server now follows {server}, because its configuration follows servers automatically.', { server: full(following) }),
    link: t('See the followed servers'),
    url: page(pages.serverFollowing),
    item: full(following),
  }),

  newPluginVersion: ({ npmName, version }, page) => ({
    subject: t('A new version of {plugin} is available: {version}', { plugin: npmName, version: chosen(version) }),
    heading: t('A new version of a plugin is available'),
    says: t('Version {version} of {plugin} is available.', { version: chosen(version), plugin: npmName }),
    link: t('See the installed plugins'),
    url: page(pages.plugins),
    item: t('{plugin} {version}', { plugin: npmName, version: chosen(version) }),
  }),

  newPeerTubeVersion: ({ version }, page) => ({
    subject: t('A new version of the software is available: {version}', { version: chosen(version) }),
    heading: t('A new version is available'),
    says: t('Version {version} of the software of this server is available.', { version: chosen(version) }),
    link: t('See the installed version'),
    url: page(pages.system),
    item: t('Version {version}', { version: chosen(version) }),
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
    subject: new Localized((language) => cut(String(wordIn(subject, language)), SUBJECT)),
    heading,
    blocks: [
      { say: says },
      ...(quoted === '' ? [] : [{ markdown: quoted }]),
      ...(adds === undefined ? [] : [{ say: adds }]),
      { link, url },
    ],
  }
}
