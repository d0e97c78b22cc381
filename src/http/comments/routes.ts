// Comments of a video: threads, replies, review, removal.

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  type CommentReader,
  type CommentReviews,
  type Comments,
  findComment,
  findPlace,
  findThread,
  listThreads,
  MAX_COMMENT_LENGTH,
  seesPendingReview,
  type WaitingComments,
} from '../../actors/comment/index.ts'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import { findVideoAccess, type VideoAccessRow } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Logger } from '../../platform/logger.ts'
import { sessionOf } from '../plugins/auth.ts'
import { type IdOrUuid, idOrUuid, idText, paging, readable, sorting } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import type { Here } from '../videos/actor.view.ts'
import type { VideoResponseCache } from '../videos/response-cache.ts'
import { viewerOf } from '../videos/viewer.ts'
import { visibleVideo } from '../videos/visible-video.ts'
import { commentTree, commentView, toCommentView, toTree } from './views.ts'

const tags = ['Video Comments']
const byVideo = z.object({ id: idOrUuid('video') })
const byThread = z.object({ id: idOrUuid('video'), threadId: idText })
const byComment = z.object({ id: idOrUuid('video'), commentId: idText })
const newComment = z.object({
  // Without surrounding white space, as other servers store it.
  text: readable(z.string().trim().min(1).max(MAX_COMMENT_LENGTH)),
})
const created = z.object({ comment: commentView })
const threadList = z.object({ total: z.int(), data: z.array(commentView), totalNotDeletedComments: z.int() })

export function commentsArea(deps: {
  db: Database
  config: () => Config
  urls: Here
  logger: Logger
  comments: Comments
  reviews: CommentReviews
  waitingComments: WaitingComments
  /** Cache of responses; without it each is built again. */
  answers?: VideoResponseCache
}): Area {
  const { db, config, urls, logger, comments, reviews, waitingComments, answers } = deps

  const readerOf = (request: FastifyRequest, video: VideoAccessRow): CommentReader => ({
    videoId: video.id,
    ownerAccountId: video.ownerAccountId,
    accountId: request.session?.user.accountId ?? null,
    seesPendingReview: seesPendingReview(video, viewerOf(request.session)),
  })

  /** Queues a refresh of the comments of a remote video from its server. Never throws. */
  async function refresh(videoId: number): Promise<void> {
    try {
      await waitingComments.askRefresh(videoId)
    } catch (error) {
      logger.warn({ err: error, video: videoId }, 'the comments of a remote video could not be refreshed')
    }
  }

  /** Throws unless the comment is on this video. */
  async function assertPlace(id: IdOrUuid, commentId: number): Promise<void> {
    const video = await findVideoAccess(db, id)
    if (!video) throw notFound('Video not found')
    const place = await findPlace(db, commentId)
    if (place?.videoId !== video.id) throw await refusalOf(video.id, commentId)
  }

  /** Writes a comment, and returns it as its author sees it. */
  async function write(request: FastifyRequest, key: IdOrUuid, comment: { text: string; inReplyTo?: number }) {
    const video = await visibleVideo({ db, config }, request, key)
    const commentId = await comments.add({ videoId: video.id, by: viewerOf(sessionOf(request)), ...comment })
    const row = await findComment(db, { ...readerOf(request, video), commentId })
    if (!row) throw notFound('Video comment thread not found')
    return { comment: toCommentView(row, urls) }
  }

  return (app) => {
    const querystring = z.object({ ...paging(config()), sort: sorting(['createdAt', 'totalReplies'], '-createdAt') })
    app.get(
      '/api/v1/videos/:id/comment-threads',
      {
        config: { auth: 'optional' },
        ...answers?.ofLists(Object.keys(querystring.shape)),
        schema: {
          tags,
          params: byVideo,
          querystring,
          response: { 200: threadList },
        },
      },
      async (request) => {
        const video = await visibleVideo({ db, config }, request, request.params.id)
        if (video.remote) await refresh(video.id)
        answers?.isAbout(request, video.id)
        const found = await listThreads(db, { ...readerOf(request, video), ...request.query })
        return {
          total: found.total,
          data: found.rows.map((row) => toCommentView(row, urls)),
          totalNotDeletedComments: found.notDeleted,
        }
      },
    )

    app.get(
      '/api/v1/videos/:id/comment-threads/:threadId',
      {
        config: { auth: 'optional' },
        ...answers?.ofLists([]),
        schema: { tags, params: byThread, response: { 200: commentTree } },
      },
      async (request) => {
        const { id, threadId } = request.params
        const video = await visibleVideo({ db, config }, request, id)
        answers?.isAbout(request, video.id)
        const rows = await findThread(db, { ...readerOf(request, video), threadId })
        const tree = toTree(rows, threadId, urls)
        if (tree && rows.some((row) => row.id === threadId && row.thread_id === null)) return tree
        throw await refusalOf(video.id, threadId)
      },
    )

    app.post(
      '/api/v1/videos/:id/comment-threads',
      { config: { auth: 'user' }, schema: { tags, params: byVideo, body: newComment, response: { 200: created } } },
      async (request) => await write(request, request.params.id, { text: request.body.text }),
    )

    app.post(
      '/api/v1/videos/:id/comments/:commentId',
      { config: { auth: 'user' }, schema: { tags, params: byComment, body: newComment, response: { 200: created } } },
      async (request) => {
        const { id, commentId } = request.params
        return await write(request, id, { text: request.body.text, inReplyTo: commentId })
      },
    )

    app.delete(
      '/api/v1/videos/:id/comments/:commentId',
      { config: { auth: 'user' }, schema: { tags, params: byComment, response: { 204: z.null() } } },
      async (request, reply) => {
        // Authors can remove their comments even if the video is hidden from them or removed.
        const { id, commentId } = request.params
        const by = viewerOf(sessionOf(request))
        if ((await findPlace(db, commentId)) || !(await comments.removeRetained(commentId, by))) {
          await assertPlace(id, commentId)
          await comments.remove(commentId, by)
        }
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/api/v1/videos/:id/comments/:commentId/approve',
      { config: { auth: 'user' }, schema: { tags, params: byComment, response: { 204: z.null() } } },
      async (request, reply) => {
        const { id, commentId } = request.params
        await assertPlace(id, commentId)
        await reviews.approve(commentId, viewerOf(sessionOf(request)))
        return reply.code(204).send(null)
      },
    )
  }

  /** Why the video has no such thread. */
  async function refusalOf(videoId: number, commentId: number): Promise<DomainError> {
    const place = await findPlace(db, commentId)
    if (!place) return notFound('Video comment thread not found')
    if (place.videoId !== videoId) {
      return new DomainError('invalid', 'Video comment is not associated to this video.', {
        code: 'comment_not_associated_to_video',
      })
    }
    if (!place.isThread) return new DomainError('invalid', 'Video comment is not a thread.')
    return notFound('Video comment thread not found')
  }
}
