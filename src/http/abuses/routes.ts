// Reports of abuse: `/abuses` for reporters and moderators, `/users/me/abuses`.

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  type AbuseMessages,
  type AbuseSubject,
  type Abuses,
  listAbuses,
  predefinedReasonIds,
  videoOfComment,
} from '../../actors/abuse/index.ts'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import { isStaff } from '../../actors/user/index.ts'
import { assertMaySee, type FileTokens, findVideoAccess } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { type IdOrUuid, listOf } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import type { Here } from '../videos/actor.view.ts'
import { tokensFor } from '../videos/address-token.ts'
import { viewerOf } from '../videos/viewer.ts'
import { abuseParam, abusesQuery, messageBody, messageParam, moderationBody, myAbusesQuery, reportBody, stateOfNumber } from './fields.ts'
import { abuseMessageView, abuseView, toAbuseMessageView, toAbuseView, toUserAbuseView, userAbuseView } from './views.ts'

export interface AbusesDeps {
  db: Database
  config: () => Config
  urls: Here
  fileTokens: Pick<FileTokens, 'issue'>
  abuses: Abuses
  messages: AbuseMessages
}

const tags = ['Abuses']
const created = z.object({ id: z.int() })

export function abusesArea({ db, config, urls, fileTokens, abuses, messages }: AbusesDeps): Area {
  const manage = { right: 'MANAGE_ABUSES' } as const
  const byUser = { auth: 'user' } as const
  const viewOptions = (request: FastifyRequest) => ({ here: urls, tokenOf: tokensFor(fileTokens, request) })

  /** A video that the requester may not see cannot be reported either. */
  async function seenVideo(request: FastifyRequest, key: IdOrUuid, refusal: string): Promise<number> {
    const video = await findVideoAccess(db, key)
    if (!video) throw notFound(refusal)
    try {
      assertMaySee(video, viewerOf(sessionOf(request)), { byId: false, password: video.password })
    } catch (error) {
      throw error instanceof DomainError && error.code !== 'video_requires_password' ? notFound(refusal) : error
    }
    return video.id
  }

  async function subjectOf(request: FastifyRequest, body: z.infer<typeof reportBody>): Promise<AbuseSubject> {
    const { video, comment, account } = body
    const named = [video?.id, comment?.id, account?.id].filter((id) => id !== undefined)
    if (named.length !== 1) throw new DomainError('invalid', 'video id or account id or comment id is required.')
    if (video?.id !== undefined) {
      return { kind: 'video', id: await seenVideo(request, video.id, 'Video not found') }
    }
    if (comment?.id !== undefined) {
      const videoId = await videoOfComment(db, comment.id)
      if (videoId === undefined) throw notFound('Video comment thread not found')
      await seenVideo(request, { id: videoId }, 'Video comment thread not found')
      return { kind: 'comment', id: comment.id }
    }
    return { kind: 'account', id: account?.id ?? 0 }
  }

  return (app) => {
    app.post(
      '/api/v1/abuses',
      { config: byUser, schema: { tags, body: reportBody, response: { 200: z.object({ abuse: created }) } } },
      async (request) => {
        const { body } = request
        const { accountId, role } = sessionOf(request).user
        const { abuseId } = await abuses.report({
          subject: await subjectOf(request, body),
          reporterId: accountId,
          isStaff: isStaff(role),
          reason: body.reason,
          predefinedReasons: predefinedReasonIds(body.predefinedReasons ?? []),
          startAt: body.video?.startAt ?? null,
          endAt: body.video?.endAt ?? null,
        })
        return { abuse: { id: abuseId } }
      },
    )

    app.get(
      '/api/v1/abuses',
      {
        config: manage,
        schema: {
          tags,
          operationId: 'getAbuses',
          querystring: abusesQuery(config()),
          response: { 200: listOf(abuseView) },
        },
      },
      async (request) => {
        const { predefinedReason, filter, ...query } = request.query
        const { total, rows } = await listAbuses(db, {
          ...query,
          readerId: sessionOf(request).user.accountId,
          kind: filter,
          predefinedReasons: predefinedReason && predefinedReasonIds(predefinedReason),
        })
        return { total, data: await Promise.all(rows.map((row) => toAbuseView(row, viewOptions(request)))) }
      },
    )

    app.get(
      '/api/v1/users/me/abuses',
      {
        config: byUser,
        schema: { tags, querystring: myAbusesQuery(config()), response: { 200: listOf(userAbuseView) } },
      },
      async (request) => {
        const reporterId = sessionOf(request).user.accountId
        const { total, rows } = await listAbuses(db, { ...request.query, reporterId })
        return { total, data: await Promise.all(rows.map((row) => toUserAbuseView(row, viewOptions(request)))) }
      },
    )

    app.put(
      '/api/v1/abuses/:id',
      { config: manage, schema: { tags, params: abuseParam, body: moderationBody, response: { 204: z.null() } } },
      async (request, reply) => {
        const { params, body } = request
        await abuses.moderate(params.id, {
          state: body.state && stateOfNumber(body.state),
          comment: body.moderationComment,
          byUserId: sessionOf(request).user.id,
        })
        return reply.code(204).send(null)
      },
    )

    app.delete(
      '/api/v1/abuses/:id',
      { config: manage, schema: { tags, params: abuseParam, response: { 204: z.null() } } },
      async ({ params }, reply) => {
        await abuses.remove(params.id)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/api/v1/abuses/:id/messages',
      { config: byUser, schema: { tags, params: abuseParam, response: { 200: listOf(abuseMessageView) } } },
      async (request) => {
        const rows = await messages.list(request.params.id, viewerOf(sessionOf(request)))
        return { total: rows.length, data: rows.map((row) => toAbuseMessageView(row, urls)) }
      },
    )

    app.post(
      '/api/v1/abuses/:id/messages',
      {
        config: byUser,
        schema: {
          tags,
          params: abuseParam,
          body: messageBody,
          response: { 200: z.object({ abuseMessage: created }) },
        },
      },
      async (request) => {
        const by = viewerOf(sessionOf(request))
        const { messageId } = await messages.add(request.params.id, { text: request.body.message, by })
        return { abuseMessage: { id: messageId } }
      },
    )

    app.delete(
      '/api/v1/abuses/:id/messages/:messageId',
      { config: byUser, schema: { tags, params: messageParam, response: { 204: z.null() } } },
      async (request, reply) => {
        const { id, messageId } = request.params
        await messages.remove(id, messageId, viewerOf(sessionOf(request)))
        return reply.code(204).send(null)
      },
    )
  }
}
