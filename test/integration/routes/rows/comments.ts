// Comments: threads, replies, removal.

import type { RouteFixtures } from '../fixtures.ts'
import { ownerOrStaff, row, signedIn, staff, visitors } from '../row.ts'

const PRIVATE = 3

const underVideo = (columns: Record<string, unknown>) => async (fixtures: RouteFixtures) => ({
  params: { id: (await fixtures.video(columns)).uuid },
})

const aboutComment = (parameter: string) => async (fixtures: RouteFixtures) => {
  const { id, video } = await fixtures.comment()
  return { params: { id: video.uuid, [parameter]: id } }
}

const heldComment = async (fixtures: RouteFixtures) => {
  const { id, video } = await fixtures.comment({ isHeld: true })
  return { params: { id: video.uuid, commentId: id } }
}

const saying =
  (request: (fixtures: RouteFixtures) => Promise<{ params: Record<string, string | number> }>) => async (fixtures: RouteFixtures) => ({
    ...(await request(fixtures)),
    body: { text: 'A word' },
  })

export const commentRows = [
  row('GET /api/v1/videos/comments', staff(200)),
  row('GET /api/v1/videos/:id/comment-threads', visitors(200), underVideo({}), 'of a public video'),
  row('GET /api/v1/videos/:id/comment-threads', ownerOrStaff(200), underVideo({ privacy: PRIVATE }), 'of a private video'),
  row('GET /api/v1/videos/:id/comment-threads/:threadId', visitors(200), aboutComment('threadId')),
  row('POST /api/v1/videos/:id/comment-threads', signedIn(200), saying(underVideo({})), 'of a public video'),
  row('POST /api/v1/videos/:id/comment-threads', ownerOrStaff(200), saying(underVideo({ privacy: PRIVATE })), 'of a private video'),
  row('POST /api/v1/videos/:id/comments/:commentId', signedIn(200), saying(aboutComment('commentId'))),
  row('DELETE /api/v1/videos/:id/comments/:commentId', ownerOrStaff(204), aboutComment('commentId')),
  row('POST /api/v1/videos/:id/comments/:commentId/approve', ownerOrStaff(204), heldComment),
]
