// Whose copies of our videos we believe in, and for how long. Pure.

import { DomainError } from '../runtime/index.ts'

export interface Holder {
  type: string
  url: string
  /** Whether our instance follows it. */
  isFollowed: boolean
}

/** A copy that says nothing of its end lasts until it is taken back; all others at most so long, in ms. */
const LONGEST_LIFETIME = 365 * 24 * 3_600_000

/** Copies of one playlist or file that are kept in mind. */
export const MAX_COPIES = 100

/**
 * Throws `forbidden` unless the configuration lets this server hold copies for us. Servers hold them, in the name of their
 * instance actor and at addresses of their own: players are not sent anywhere else.
 */
export function assertMayHold(
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

/** From now on, in ms; null for a copy without an end, 0 or less for one that is over. */
export const lifetimeOf = (expiresAt: Date | null, now: Date): number | null =>
  expiresAt === null ? null : Math.min(expiresAt.getTime() - now.getTime(), LONGEST_LIFETIME)

const originOf = (url: string): string | undefined => URL.parse(url)?.origin
