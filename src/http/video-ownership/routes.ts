// Ownership offers of videos: `/videos/:id/give-ownership`, `/videos/ownership`.

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { listOwnershipChanges, type OwnershipChanges } from '../../actors/ownership-change/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import { type FileTokens, findVideoAccess } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { idNumber, idOrUuid, idText, listOf, paging, sorting } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import type { Here } from '../videos/actor.view.ts'
import { tokensFor } from '../videos/address-token.ts'
import { viewerOf } from '../videos/viewer.ts'
import { ownershipChangeView, toOwnershipChangeView } from './views.ts'

export interface VideoOwnershipDeps {
  db: Database
  config: () => Config
  urls: Here
  fileTokens: Pick<FileTokens, 'issue'>
  ownershipChanges: OwnershipChanges
}

const tags = ['Video Ownership Change']
const changeParam = z.object({ id: idText })

export function videoOwnershipArea({ db, config, urls, fileTokens, ownershipChanges }: VideoOwnershipDeps): Area {
  const byUser = { auth: 'user' } as const

  const receiverOf = (request: FastifyRequest) => {
    const { id: userId, accountId } = sessionOf(request).user
    return { userId, accountId }
  }

  return (app) => {
    app.post(
      '/api/v1/videos/:id/give-ownership',
      {
        config: byUser,
        schema: {
          tags,
          params: z.object({ id: idOrUuid('video') }),
          body: z.object({ username: z.string().min(1).max(320) }),
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        const video = await findVideoAccess(db, request.params.id)
        if (!video) throw notFound('Video not found')
        await ownershipChanges.give(video.id, viewerOf(sessionOf(request)), request.body.username)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/api/v1/videos/ownership',
      {
        config: byUser,
        schema: {
          tags,
          querystring: z.object({ ...paging(config()), sort: sorting(['createdAt'], 'createdAt') }),
          response: { 200: listOf(ownershipChangeView) },
        },
      },
      async (request) => {
        const { start, count, sort } = request.query
        const { accountId: receiverId } = sessionOf(request).user
        const { descending } = sort
        const { total, rows } = await listOwnershipChanges(db, { receiverId, start, count, descending })
        const options = { here: urls, tokenOf: tokensFor(fileTokens, request) }
        return { total, data: await Promise.all(rows.map((row) => toOwnershipChangeView(row, options))) }
      },
    )

    app.post(
      '/api/v1/videos/ownership/:id/accept',
      {
        config: byUser,
        schema: {
          tags,
          params: changeParam,
          body: z.object({ channelId: idNumber.optional() }),
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        await ownershipChanges.accept(request.params.id, receiverOf(request), request.body.channelId)
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/api/v1/videos/ownership/:id/refuse',
      { config: byUser, schema: { tags, params: changeParam, response: { 204: z.null() } } },
      async (request, reply) => {
        await ownershipChanges.refuse(request.params.id, receiverOf(request))
        return reply.code(204).send(null)
      },
    )
  }
}
