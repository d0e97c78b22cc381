// The mail of one notification, or of several that were held back: its text, and the small print with the reason and how to unsubscribe.

import { known, t } from '../../../platform/language.ts'
import type { NotificationSettings } from '../../notification-setting/index.ts'
import * as pages from './client-pages.ts'
import type { Letter } from './layout.ts'
import { aboutOf, severalOf } from './notice-kinds.ts'
import { letterOf, noticeTextOf } from './notice-letters.ts'
import type { Notice, NoticeKind } from './notices.ts'

/** Maximum listed notifications of a flood; the others are counted. */
export const MAX_LISTED = 20

export interface NoticeMail {
  kind: NoticeKind
  /** The setting that enables these mails. */
  setting: keyof NotificationSettings
  /** The first ones, in order. */
  notices: readonly Notice[]
  /** All of them, including those that are not listed. */
  total: number
}

/** `notices` are of one kind; at least one. `unsubscribe`: the page that ends mails of this kind. */
export function noticeLetter({ kind, setting, notices, total }: NoticeMail, at: { origin: string; unsubscribe: string }): Letter {
  const [only] = notices
  const letter = only && total === 1 ? letterOf(only, at.origin) : digest({ kind, notices, total }, at.origin)
  return {
    ...letter,
    footer: [
      { say: t('You receive this mail because of this setting: {setting}.', { setting: known(capital(aboutOf[setting])) }) },
      { link: t('Change your notification settings'), url: `${at.origin}${pages.notifications}` },
      { link: t('Stop mails of this kind'), url: at.unsubscribe },
    ],
  }
}

function digest({ kind, notices, total }: Omit<NoticeMail, 'setting'>, origin: string): Letter {
  const several = severalOf[kind](total)
  const listed = notices.slice(0, MAX_LISTED)
  const more = total - listed.length
  return {
    subject: several,
    heading: several,
    blocks: [
      { list: listed.map((notice) => noticeTextOf(notice, origin)).map(({ item, url }) => ({ item, url })) },
      ...(more > 0 ? [{ say: t('and {count} more', { count: more }) }] : []),
      { link: t('See your notifications'), url: `${origin}${pages.notifications}` },
    ],
  }
}

/**
 * The thread of a mail, so that mail programs group those about one report, and those about the comments of one video; undefined for a
 * single mail.
 */
export function threadOf(notices: readonly Notice[]): string | undefined {
  const threads = new Set(notices.map(threadOfOne))
  const [thread] = threads
  return threads.size === 1 ? thread : undefined
}

function threadOfOne(notice: Notice): string | undefined {
  switch (notice.kind) {
    case 'newAbuseForModerators':
    case 'abuseStateChange':
    case 'abuseNewMessage':
      return `report-${notice.report.id}`
    case 'newCommentOnMyVideo':
    case 'commentMention':
      return `comments-${notice.video.shortUuid}`
    case 'blacklistOnMyVideo':
    case 'unblacklistOnMyVideo':
    case 'videoAutoBlacklistForModerators':
      return `block-${notice.video.shortUuid}`
    default:
      return undefined
  }
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
