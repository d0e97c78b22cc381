// Comments below one's own videos: `/users/me/videos/comments`.

import { z } from 'zod'
import {
  findChannelOwner,
  listOwnedComments,
  type OwnedCommentRow,
  ownedCommentSorts,
  seesHeld,
} from '../../actors/comment/index.ts'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import { findVideoAccess, type Viewer } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { booleanText, integerText, listOf, oneOrMore, paging, sorting } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { accountView, type Here, toAccountView } from '../videos/actor.view.ts'
import { viewerOf } from '../videos/viewer.ts'

const date = z.iso.datetime()
const id = integerText({ min: 0, max: 2_147_483_647 })
const search = z.string().max(1000)

const ownedCommentView = z
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

export function ownedCommentsArea(deps: { db: Database; config: () => Config; urls: Here }): Area {
  const { db, config, urls } = deps

  async function assertOwned(viewer: NonNullable<Viewer>, videoId?: number, channelId?: number): Promise<void> {
    if (videoId !== undefined) {
      const video = await findVideoAccess(db, { id: videoId })
      if (!video) throw notFound('Video not found')
      if (!seesHeld(video, viewer)) throw new DomainError('forbidden', 'Cannot manage a video of another user.')
    }
    if (channelId !== undefined) {
      const ownerAccountId = await findChannelOwner(db, channelId)
      if (ownerAccountId === undefined) throw notFound('Video channel not found')
      if (!seesHeld({ ownerAccountId }, viewer)) {
        throw new DomainError('forbidden', 'Cannot manage a channel of another user.')
      }
    }
  }

  return (app) => {
    app.get(
      '/api/v1/users/me/videos/comments',
      {
        config: { auth: 'user' },
        schema: {
          tags: ['Video Comments'],
          querystring: z.object({
            ...paging(config()),
            sort: sorting(ownedCommentSorts, '-createdAt'),
            search: search.optional(),
            searchAccount: search.optional(),
            searchVideo: search.optional(),
            videoId: id.optional(),
            videoChannelId: id.optional(),
            autoTagOneOf: oneOrMore(z.string().min(1).max(200)).optional(),
            isHeldForReview: booleanText.optional(),
          }),
          response: { 200: listOf(ownedCommentView) },
        },
      },
      async (request) => {
        const viewer = viewerOf(sessionOf(request))
        const { videoId, videoChannelId, autoTagOneOf, isHeldForReview, ...query } = request.query
        await assertOwned(viewer, videoId, videoChannelId)
        // Nothing tags comments automatically yet, so none has such a tag.
        if (autoTagOneOf) return { total: 0, data: [] }
        const { total, rows } = await listOwnedComments(db, {
          ...query,
          accountId: viewer.accountId,
          ...{ videoId, channelId: videoChannelId, isHeld: isHeldForReview },
        })
        return { total, data: rows.map((row) => toOwnedCommentView(row, urls)) }
      },
    )
  }
}

const toOwnedCommentView = (row: OwnedCommentRow, here: Here): z.infer<typeof ownedCommentView> => ({
  id: row.id,
  url: row.url,
  text: row.text,
  threadId: row.thread_id ?? row.id,
  inReplyToCommentId: row.parent_id,
  videoId: row.video.id,
  createdAt: new Date(row.created_at).toISOString(),
  updatedAt: new Date(row.updated_at).toISOString(),
  heldForReview: row.held,
  automaticTags: [],
  video: row.video,
  account: toAccountView(row.account, here),
})
