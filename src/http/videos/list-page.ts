// A page of the videos of an account or a channel, as whoever asks may see them.

import type { z } from 'zod'
import type { Session } from '../../actors/session/index.ts'
import { listVideos, type VideoListScope } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Here } from './actor.view.ts'
import { assertMayList, type ListQuery, toListQuery } from './list.ts'
import { makeNsfwWanted } from './nsfw-wanted.ts'
import { toVideoView, type videoView } from './video.view.ts'
import { viewerOf } from './viewer.ts'

/** Throws as `assertMayList`, before `scope` is looked for. */
export type VideoPageOf = (
  asked: { query: ListQuery; session: Session | null },
  scope: () => Promise<VideoListScope>,
) => Promise<{ total?: number; data: z.infer<typeof videoView>[] }>

export function makeVideoPageOf(deps: { db: Database; config: () => Config; urls: Here }): VideoPageOf {
  const { db, urls } = deps
  const nsfwWanted = makeNsfwWanted(deps)
  return async ({ query, session }, scope) => {
    const viewer = viewerOf(session)
    assertMayList(query, viewer)
    const of = await scope()
    const nsfw = await nsfwWanted(query, session?.user.id)
    const page = await listVideos(db, toListQuery(query, { scope: of, viewer, nsfw, ownHost: urls.host }))
    return {
      ...(page.total === undefined ? {} : { total: page.total }),
      data: page.rows.map((row) => toVideoView(row, { here: urls, include: query.include })),
    }
  }
}
