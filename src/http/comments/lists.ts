// Comments on many videos: on the user's own (`/users/me/videos/comments`), and on all for the staff (`/videos/comments`).

import { z } from 'zod'
import {
  type CommentListQuery,
  commentSorts,
  findChannelOwner,
  type ListedCommentRow,
  listComments,
  seesPendingReview,
} from '../../actors/comment/index.ts'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import type { Viewer } from '../../actors/session/index.ts'
import { findVideoAccess } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { booleanText, idOrUuid, integerText, listOf, oneOrMore, paging, sorting } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { accountView, type Here, toAccountView } from '../videos/actor.view.ts'
import { viewerOf } from '../videos/viewer.ts'

const date = z.iso.datetime()
const id = integerText({ min: 0, max: 2_147_483_647 })
const search = z.string().max(1000)

const listedCommentView = z
  .object({
    id: z.int(),
    url: z.string(),
    text: z.string(),
    threadId: z.int(),
    inReplyToCommentId: z.int().nullable(),
    videoId: z.int(),
    createdAt: date,
    updatedAt: date,
    heldForReview: z.boolean(),
    automaticTags: z.array(z.string()),
    video: z.object({ id: z.int(), uuid: z.uuid(), name: z.string() }),
    account: accountView,
  })
  .meta({ id: 'VideoCommentForOwnerOrAdmin' })

export function commentListsArea(deps: { db: Database; config: () => Config; urls: Here }): Area {
  const { db, config, urls } = deps
  const filters = {
    ...paging(config()),
    search: search.optional(),
    searchAccount: search.optional(),
    searchVideo: search.optional(),
    videoId: idOrUuid('video').optional(),
    videoChannelId: id.optional(),
    autoTagOneOf: oneOrMore(z.string().min(1).max(200)).optional(),
    isHeldForReview: booleanText.optional(),
  }

  type Filters = z.output<z.ZodObject<typeof filters>>

  /**
   * Returns the id of the video. Throws `not_found`, and `forbidden` for a video or channel of which the requester may not see all
   * comments.
   */
  async function assertSees(viewer: NonNullable<Viewer>, { videoId, videoChannelId }: Filters): Promise<number | undefined> {
    const video = videoId && (await findVideoAccess(db, videoId))
    if (videoId !== undefined) {
      if (!video) throw notFound('Video not found')
      if (!seesPendingReview(video, viewer)) throw new DomainError('forbidden', 'Cannot manage a video of another user.')
    }
    if (videoChannelId !== undefined) {
      const ownerAccountId = await findChannelOwner(db, videoChannelId)
      if (ownerAccountId === undefined) throw notFound('Video channel not found')
      if (!seesPendingReview({ ownerAccountId }, viewer)) {
        throw new DomainError('forbidden', 'Cannot manage a channel of another user.')
      }
    }
    return video?.id
  }

  async function answer(
    viewer: NonNullable<Viewer>,
    query: Filters & Pick<CommentListQuery, 'sort' | 'isLocal' | 'onLocalVideo'>,
    of: Pick<CommentListQuery, 'ownerAccountId' | 'tagsOf'>,
  ) {
    const videoId = await assertSees(viewer, query)
    const { videoId: _named, videoChannelId: channelId, isHeldForReview: isHeld, ...others } = query
    const { total, rows } = await listComments(db, { ...others, ...of, videoId, channelId, isHeld })
    return { total, data: rows.map((row) => toListedCommentView(row, urls)) }
  }

  const tags = ['Video Comments']
  const response = { 200: listOf(listedCommentView) }

  return (app) => {
    app.get(
      '/api/v1/users/me/videos/comments',
      {
        config: { auth: 'user' },
        schema: {
          tags,
          querystring: z.object({ ...filters, sort: sorting(commentSorts, '-createdAt') }),
          response,
        },
      },
      async (request) => {
        const viewer = viewerOf(sessionOf(request))
        return await answer(viewer, request.query, { ownerAccountId: viewer.accountId, tagsOf: viewer.accountId })
      },
    )

    app.get(
      '/api/v1/videos/comments',
      {
        config: { right: 'SEE_ALL_COMMENTS' },
        schema: {
          tags,
          querystring: z.object({
            ...filters,
            isLocal: booleanText.optional(),
            onLocalVideo: booleanText.optional(),
            sort: sorting(['createdAt'], '-createdAt'),
          }),
          response,
        },
      },
      async (request) => await answer(viewerOf(sessionOf(request)), request.query, { tagsOf: null }),
    )
  }
}

const toListedCommentView = (row: ListedCommentRow, here: Here): z.infer<typeof listedCommentView> => ({
  id: row.id,
  url: row.url,
  text: row.text,
  threadId: row.thread_id ?? row.id,
  inReplyToCommentId: row.parent_id,
  videoId: row.video.id,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  heldForReview: row.held,
  automaticTags: row.automatic_tags,
  video: row.video,
  account: toAccountView(row.account, here),
})
