// The video of a request, if the requester may see it: the first step for all parts of a video.

import type { FastifyRequest } from 'fastify'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import { assertFollowed, assertMaySee, findVideoAccess, type VideoAccessRow } from '../../actors/video/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import type { IdOrUuid } from '../plugins/schemas.ts'
import type { ConstraintDeps } from './follow-constraints.ts'
import { passwordOf, viewerOf } from './viewer.ts'

/** Throws `not_found`, and like `assertMaySee`. */
export async function visibleVideo({ db, config }: ConstraintDeps, request: FastifyRequest, key: IdOrUuid): Promise<VideoAccessRow> {
  const video = await findVideoAccess(db, key, passwordOf(request))
  if (!video) throw notFound('Video not found')
  try {
    assertMaySee(video, viewerOf(request.session), { byId: 'id' in key, password: video.password })
    assertFollowed(video, viewerOf(request.session), config().search.remote_uri)
  } catch (error) {
    // A visitor gets the response of routes for users only.
    if (error instanceof DomainError && error.kind === 'unauthenticated') sessionOf(request)
    throw error
  }
  return video
}
