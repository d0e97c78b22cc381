// Which remote copies of local videos are trusted, and for how long. Pure.

import { DomainError } from '../runtime/index.ts'

export interface Holder {
  type: string
  url: string
  /** True if the local instance follows it. */
  isFollowed: boolean
}

/** Longest lifetime of a copy with an expiry, in ms; one without an expiry lasts until it is withdrawn. */
const LONGEST_LIFETIME = 365 * 24 * 3_600_000

/** Maximum stored copies of one playlist or file. */
export const MAX_COPIES = 100

/**
 * Throws `forbidden` unless the configuration allows copies by this server. The holder must be an instance actor, with addresses on its own
 * server: players are not redirected elsewhere.
 */
export function assertMayMirror(
  holder: Holder,
  copy: { url: string; fileUrl: string },
  acceptFrom: 'anybody' | 'followings' | 'nobody',
): void {
  if (acceptFrom === 'nobody' || (acceptFrom === 'followings' && !holder.isFollowed)) {
    throw new DomainError('forbidden', `Copies by ${holder.url} are not used here.`)
  }
  if (holder.type !== 'Application') throw new DomainError('forbidden', `${holder.url} is no server.`)
  const origin = originOf(holder.url)
  if (originOf(copy.url) !== origin || originOf(copy.fileUrl) !== origin) {
    throw new DomainError('forbidden', `${copy.fileUrl} is not of the server of ${holder.url}.`)
  }
}

/** From now, in ms; null without an expiry, 0 or less for an expired copy. */
export const lifetimeOf = (expiresAt: Date | null, now: Date): number | null =>
  expiresAt === null ? null : Math.min(expiresAt.getTime() - now.getTime(), LONGEST_LIFETIME)

const originOf = (url: string): string | undefined => URL.parse(url)?.origin
