// Tokens with which players read the files of a private video.

import { z } from 'zod'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import { assertMaySee, type FileTokens, findVideoAccess } from '../../actors/video/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { idOrUuid } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { passwordOf, viewerOf } from '../videos/viewer.ts'

const tokenView = z.object({ files: z.object({ token: z.string(), expires: z.iso.datetime() }) }).meta({ id: 'VideoToken' })

/** Adds `/api/v1/videos/{id}/token`. */
export function videoTokensArea({ db, fileTokens }: { db: Database; fileTokens: FileTokens }): Area {
  return (app) => {
    app.post(
      '/api/v1/videos/:id/token',
      {
        config: { auth: 'optional' },
        schema: { tags: ['Video'], params: z.object({ id: idOrUuid('video') }), response: { 200: tokenView } },
      },
      async (request, reply) => {
        const { id: key } = request.params
        const password = passwordOf(request)
        const video = await findVideoAccess(db, key, password)
        if (!video) throw notFound('Video not found')
        assertMaySee(video, viewerOf(request.session), { byId: 'id' in key, password: video.password })
        if (!request.session && password === undefined) {
          throw new DomainError('invalid', 'The files of this video are open to everybody: they need no token.')
        }
        const { token, expires } = await fileTokens.issue({ video, userId: request.session?.user.id, password })
        reply.header('cache-control', 'no-store')
        return { files: { token, expires: expires.toISOString() } }
      },
    )
  }
}
