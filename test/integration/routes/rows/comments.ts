// Comments: threads, replies, removal.

import type { Cast } from '../cast.ts'
import { ownerOrStaff, row, signedIn, staff, visitors } from '../row.ts'

const PRIVATE = 3

const underVideo = (columns: Record<string, unknown>) => async (cast: Cast) => ({
  params: { id: (await cast.video(columns)).uuid },
})

const aboutComment = (parameter: string) => async (cast: Cast) => {
  const { id, video } = await cast.comment()
  return { params: { id: video.uuid, [parameter]: id } }
}

const heldComment = async (cast: Cast) => {
  const { id, video } = await cast.comment({ isHeld: true })
  return { params: { id: video.uuid, commentId: id } }
}

const saying = (request: (cast: Cast) => Promise<{ params: Record<string, string | number> }>) => async (cast: Cast) => ({
  ...(await request(cast)),
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
