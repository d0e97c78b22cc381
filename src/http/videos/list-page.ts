// A page of the videos of an account or a channel, as whoever asks may see them.

import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { type FileTokens, listVideos, type VideoListScope } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Here } from './actor.view.ts'
import { tokensFor } from './address-token.ts'
import { assertMayList, type ListQuery, toListQuery } from './list.ts'
import { makeNsfwWanted } from './nsfw-wanted.ts'
import { toVideoViews, type videoView } from './video.view.ts'
import { viewerOf } from './viewer.ts'

/** Throws as `assertMayList`, before `scope` is looked for. */
export type VideoPageOf = (
  request: Pick<FastifyRequest, 'session' | 'headers'> & { query: ListQuery },
  scope: () => Promise<VideoListScope>,
) => Promise<{ total?: number; data: z.infer<typeof videoView>[] }>

export interface VideoPageDeps {
  db: Database
  config: () => Config
  urls: Here
  fileTokens: Pick<FileTokens, 'issue'>
}

export function makeVideoPageOf(deps: VideoPageDeps): VideoPageOf {
  const { db, urls, fileTokens } = deps
  const nsfwWanted = makeNsfwWanted(deps)
  return async (request, scope) => {
    const { query, session } = request
    const viewer = viewerOf(session)
    assertMayList(query, viewer)
    const of = await scope()
    const nsfw = await nsfwWanted(query, session?.user.id)
    const page = await listVideos(db, toListQuery(query, { scope: of, viewer, nsfw, ownHost: urls.host }))
    return {
      ...(page.total === undefined ? {} : { total: page.total }),
      data: await toVideoViews(page.rows, {
        here: urls,
        include: query.include,
        tokenOf: tokensFor(fileTokens, request),
      }),
    }
  }
}
