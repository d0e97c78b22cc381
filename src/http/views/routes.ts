// Players report where they are in a video, every few seconds.

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { History } from '../../actors/history/index.ts'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import { assertMaySee, findWatchableVideo, videoPrivacies } from '../../actors/video/index.ts'
import type { Views } from '../../actors/view/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { clientIp } from '../plugins/client-ip.ts'
import { type IdOrUuid, idOrUuid } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { passwordOf, viewerOf } from '../videos/viewer.ts'

const LARGEST_SECOND = 2_147_483_647
const LONGEST_SESSION = 200

/** Players that send an event or a session that we cannot read are still watching: those are left aside. */
const viewing = z.object({
  currentTime: z.int().min(0).max(LARGEST_SECOND),
  viewEvent: z.enum(['seek']).optional().catch(undefined),
  sessionId: z.string().min(1).max(LONGEST_SESSION).optional().catch(undefined),
})

const schema = {
  tags: ['Video'],
  params: z.object({ id: idOrUuid('video') }),
  body: viewing,
  response: { 204: z.null() },
}

export function viewsArea({ db, views, history }: { db: Database; views: Views; history: History }): Area {
  async function watch(request: FastifyRequest, key: IdOrUuid, body: z.infer<typeof viewing>): Promise<void> {
    const video = await findWatchableVideo(db, key, passwordOf(request))
    if (!video) throw notFound('Video not found')
    try {
      assertMaySee(video, viewerOf(request.session), { byId: 'id' in key, password: video.password })
    } catch (error) {
      // Players on pages that wait for a password report as well: that counts for nothing, and is no error.
      if (video.privacy === videoPrivacies.passwordProtected && video.password === 'none') return
      throw error
    }
    const { currentTime, viewEvent, sessionId } = body
    if (!video.isLive && currentTime > video.duration) {
      throw new DomainError(
        'invalid',
        `Current time ${currentTime} is invalid (video ${video.uuid} duration: ${video.duration})`,
      )
    }
    const accountId = request.session?.user.accountId
    await Promise.all([
      views.watch({
        videoId: video.id,
        watcher: { session: sessionId, address: clientIp(request) },
        seconds: currentTime,
        isSeek: viewEvent === 'seek',
      }),
      accountId === undefined ? undefined : history.remember({ accountId, videoId: video.id, seconds: currentTime }),
    ])
  }

  return (app) => {
    app.post(
      '/api/v1/videos/:id/views',
      { config: { auth: 'optional' }, schema: { ...schema, operationId: 'addView' } },
      async (request, reply) => {
        await watch(request, request.params.id, request.body)
        return reply.code(204).send(null)
      },
    )

    app.put(
      '/api/v1/videos/:id/watching',
      { config: { auth: 'user' }, schema: { ...schema, deprecated: true } },
      async (request, reply) => {
        await watch(request, request.params.id, request.body)
        return reply.code(204).send(null)
      },
    )
  }
}
