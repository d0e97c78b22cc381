// A page of the videos of an account or a channel, as whoever asks may see them.

import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { type FileTokens, listVideos, type VideoListScope } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Here } from './actor.view.ts'
import { tokensFor } from './address-token.ts'
import { assertScopeFollowed, seesStrangers } from './follow-constraints.ts'
import { assertMayList, type ListQuery, toListQuery } from './list.ts'
import { makeNsfwWanted } from './nsfw-wanted.ts'
import { toVideoViews, type videoView } from './video.view.ts'
import { viewerOf } from './viewer.ts'

/** Throws as `assertMayList`, before the owner is looked for. */
export type VideoPageOf = (
  request: Pick<FastifyRequest, 'session' | 'headers'> & { query: ListQuery },
  owner: () => Promise<{ scope: VideoListScope; isRemote: boolean }>,
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
  return async (request, owner) => {
    const { query, session } = request
    const viewer = viewerOf(session)
    assertMayList(query, viewer)
    const { scope, isRemote } = await owner()
    if (isRemote) await assertScopeFollowed(deps, session !== null, scope)
    const nsfw = await nsfwWanted(query, session?.user.id)
    const page = await listVideos(db, {
      ...toListQuery(query, { scope, viewer, nsfw, ownHost: urls.host }),
      strangers: seesStrangers(deps, session !== null),
    })
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
