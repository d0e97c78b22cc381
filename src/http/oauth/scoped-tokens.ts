// Tokens for a single purpose, the user's private feeds: `/users/scoped-tokens`.

import { z } from 'zod'
import type { ScopedTokens } from '../../actors/session/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import type { Area } from '../plugins/types.ts'

const scopedTokensView = z.object({ feedToken: z.uuid() }).meta({ id: 'ScopedToken' })

export function scopedTokensArea({ scopedTokens }: { scopedTokens: ScopedTokens }): Area {
  const route = {
    config: { auth: 'user' },
    schema: { tags: ['Session'], response: { 200: scopedTokensView } },
  } as const
  return (app) => {
    app.get('/api/v1/users/scoped-tokens', route, async (request) => ({
      feedToken: await scopedTokens.feedToken(sessionOf(request).user.id),
    }))

    app.post('/api/v1/users/scoped-tokens', route, async (request) => ({
      feedToken: await scopedTokens.renewFeedToken(sessionOf(request).user.id),
    }))
  }
}
