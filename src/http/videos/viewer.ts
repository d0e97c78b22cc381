// The requester of a video: the user of the session, and the password in the request.

import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import type { Session, Viewer } from '../../actors/session/index.ts'

export function viewerOf(session: Session): NonNullable<Viewer>
export function viewerOf(session: Session | null): Viewer
export function viewerOf(session: Session | null): Viewer {
  return session && { accountId: session.user.accountId, role: session.user.role }
}

/** The account whose mutes filter lists, in addition to those of the instance; null if the user has no mutes. */
export const readerOf = (session: Session | null): number | null => (session?.mutes ? session.user.accountId : null)

/**
 * The password of the request, from the header that clients use: browsers send it in Latin-1, as Node reads it, and most other programs in
 * UTF-8. An empty one is wrong.
 */
export function passwordOf(request: Pick<FastifyRequest, 'headers'>): string | undefined {
  const password = request.headers['x-peertube-video-password']
  if (typeof password !== 'string') return undefined
  const bytes = Buffer.from(password, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : password
}
