// The user who asks: `/users/me`.

import { notFound } from '../../actors/runtime/index.ts'
import { findMe, quotaUsed } from '../../actors/user/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import type { Area } from '../plugins/types.ts'
import { meView, quotaView, toMeView } from './views.ts'

export function meArea(deps: { db: Database; urls: { host: string } }): Area {
  const { db, urls } = deps
  return (app) => {
    app.get(
      '/api/v1/users/me',
      { config: { auth: 'user' }, schema: { tags: ['My User'], response: { 200: meView } } },
      async (request) => {
        const me = await findMe(db, sessionOf(request).user.id)
        if (!me) throw notFound('User not found')
        return toMeView(me, urls.host)
      },
    )
    app.get(
      '/api/v1/users/me/video-quota-used',
      { config: { auth: 'user' }, schema: { tags: ['My User'], response: { 200: quotaView } } },
      async (request) => {
        const { total, daily } = await quotaUsed(db, sessionOf(request).user.id)
        return { videoQuotaUsed: total, videoQuotaUsedDaily: daily }
      },
    )
  }
}
