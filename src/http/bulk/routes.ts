// Bulk operations: `/bulk`.

import { z } from 'zod'
import { type RemoveCommentsOf, removalScopes } from '../../actors/comment/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import type { Area } from '../plugins/types.ts'
import { viewerOf } from '../videos/viewer.ts'

const removal = z.object({ accountName: z.string().min(1).max(320), scope: z.enum(removalScopes) })

export function bulkArea({ comments }: { comments: RemoveCommentsOf }): Area {
  return (app) => {
    app.post(
      '/api/v1/bulk/remove-comments-of',
      { config: { auth: 'user' }, schema: { tags: ['Bulk'], body: removal, response: { 204: z.null() } } },
      async (request, reply) => {
        await comments.removeCommentsOf({ ...request.body, by: viewerOf(sessionOf(request)) })
        return reply.code(204).send(null)
      },
    )
  }
}
