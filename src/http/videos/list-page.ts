// A page of the videos of an account or a channel, as the requester may see them.

import type { FastifyRequest } from 'fastify'
import type { VideoListScope } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Here } from './actor.view.ts'
import { assertScopeFollowed, seesStrangers } from './follow-constraints.ts'
import { assertMayList, type ListQuery, toListQuery } from './list.ts'
import { makeNsfwFilter } from './nsfw-filter.ts'
import type { VideoPages } from './video-pages.ts'
import { readerOf, viewerOf } from './viewer.ts'

/** Throws like `assertMayList`, before the owner is looked up. */
export type VideoPageOf = (
  request: Pick<FastifyRequest, 'session' | 'headers'> & { query: ListQuery },
  owner: () => Promise<{ scope: VideoListScope; isRemote: boolean }>,
) => ReturnType<VideoPages>

export interface VideoPageDeps {
  db: Database
  config: () => Config
  urls: Here
  videoPages: VideoPages
}

export function makeVideoPageOf(deps: VideoPageDeps): VideoPageOf {
  const { urls, videoPages } = deps
  const nsfwFilter = makeNsfwFilter(deps)
  return async (request, owner) => {
    const { query, session } = request
    const viewer = viewerOf(session)
    assertMayList(query, viewer)
    const { scope, isRemote } = await owner()
    if (isRemote) await assertScopeFollowed(deps, session !== null, scope)
    const nsfw = nsfwFilter(query, session?.nsfwPolicy)
    const asked = {
      ...toListQuery(query, { scope, viewer, reader: readerOf(session), nsfw, ownHost: urls.host }),
      strangers: seesStrangers(deps, session !== null),
    }
    return await videoPages(request, asked, query.include)
  }
}
