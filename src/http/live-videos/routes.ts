// Live videos, which this version does not support: a stream cannot be created, and no local video is live.

import { z } from 'zod'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import { findVideoAccess, type VideoKey } from '../../actors/video/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { idOrUuid } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'

const tags = ['Live Videos']
const params = z.object({ id: idOrUuid('videoId') })
const byUser = { auth: 'user' } as const

/** Adds `/videos/live` and `/videos/{id}/live-session`. */
export function liveVideosArea({ db }: { db: Database }): Area {
  const refuse = (message: string) => async (request: { params: { id: VideoKey } }) => {
    throw notFound((await findVideoAccess(db, request.params.id)) ? message : 'Video not found')
  }
  const noLive = refuse('Live video not found')

  return (app) => {
    app.post('/api/v1/videos/live', {
      config: byUser,
      schema: { tags },
      // Before the body is read, which may be a form with pictures.
      preParsing: async () => {
        throw new DomainError('forbidden', 'Live is not enabled on this instance', { code: 'live_not_enabled' })
      },
      handler: async () => undefined,
    })
    app.get('/api/v1/videos/live/:id', { config: { auth: 'optional' }, schema: { tags, params } }, noLive)
    app.put('/api/v1/videos/live/:id', { config: byUser, schema: { tags, params } }, noLive)
    app.get('/api/v1/videos/live/:id/sessions', { config: byUser, schema: { tags, params } }, noLive)
    app.get('/api/v1/videos/:id/live-session', { config: { auth: 'optional' }, schema: { tags, params } }, refuse('No live replay found'))
  }
}
