// Who asks for a video: the user of the session, and the password that came along.

import type { FastifyRequest } from 'fastify'
import type { Session } from '../../actors/session/index.ts'
import type { Viewer } from '../../actors/video/index.ts'

export function viewerOf(session: Session): NonNullable<Viewer>
export function viewerOf(session: Session | null): Viewer
export function viewerOf(session: Session | null): Viewer {
  return session && { accountId: session.user.accountId, role: session.user.role }
}

/** The password of the request, from the header that clients use. An empty one is a wrong one. */
export function passwordOf(request: Pick<FastifyRequest, 'headers'>): string | undefined {
  const password = request.headers['x-peertube-video-password']
  return typeof password === 'string' ? password : undefined
}
