// OAuth 2.0: the local client, tokens by password and refresh grants, and their revocation.

import type { Instance } from '../../actors/instance/index.ts'
import type { Sessions, Tokens } from '../../actors/session/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import type { Area } from '../plugins/types.ts'
import { readTokenRequest, type TokenRequest, tokenForm, tokenHeaders } from './token-request.ts'
import { neverStored, oauthClientView, revokedView, tokenView, toTokenView } from './views.ts'

export function oauthArea(deps: { instance: Instance; sessions: Sessions }): Area {
  const { instance, sessions } = deps

  async function tokensFor(asked: TokenRequest, code: string | undefined): Promise<Tokens> {
    switch (asked.grant) {
      case 'password':
        return await sessions.login({ ...asked, code })
      case 'external':
        return await sessions.loginByToken(asked)
      case 'refresh_token':
        return await sessions.refresh(asked.client, asked.refreshToken)
    }
  }

  return (app) => {
    app.get(
      '/api/v1/oauth-clients/local',
      { schema: { operationId: 'getOAuthClient', tags: ['Session'], response: { 200: oauthClientView } } },
      async () => await instance.localClient(),
    )

    app.post(
      '/api/v1/users/token',
      {
        config: { limits: ['login'], form: { fields: tokenForm, files: [] } },
        schema: {
          operationId: 'getOAuthToken',
          tags: ['Session'],
          headers: tokenHeaders,
          response: { 200: tokenView },
        },
      },
      async (request, reply) => {
        const asked = readTokenRequest(request.headers['content-type'], request.body)
        const tokens = await tokensFor(asked, request.headers['x-peertube-otp'])
        neverStored(reply)
        return toTokenView(tokens)
      },
    )

    app.post(
      '/api/v1/users/revoke-token',
      {
        config: { auth: 'user' },
        schema: { operationId: 'revokeOAuthToken', tags: ['Session'], response: { 200: revokedView } },
      },
      async (request) => {
        const redirectUrl = await sessions.logout(sessionOf(request))
        return { success: true as const, ...(redirectUrl === undefined ? {} : { redirectUrl }) }
      },
    )
  }
}
