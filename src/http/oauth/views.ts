// Responses of the OAuth endpoints.

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Tokens } from '../../actors/session/index.ts'

export const tokenView = z
  .object({
    token_type: z.literal('Bearer'),
    access_token: z.string(),
    refresh_token: z.string(),
    expires_in: z.int(),
    refresh_token_expires_in: z.int(),
  })
  .meta({ id: 'OAuthToken' })

export const oauthClientView = z.object({ client_id: z.string(), client_secret: z.string() }).meta({ id: 'OAuthClient' })

export const revokedView = z.object({
  success: z.literal(true),
  redirectUrl: z.url().optional().meta({ description: 'Where the browser logs out of the other system that the user logged in with.' }),
})

export const toTokenView = (tokens: Tokens): z.infer<typeof tokenView> => ({
  token_type: 'Bearer',
  access_token: tokens.access_token,
  refresh_token: tokens.refresh_token,
  expires_in: tokens.expires_in,
  refresh_token_expires_in: tokens.refresh_token_expires_in,
})

/** Caches must not store tokens (RFC 6749, 5.1). */
export const neverStored = (reply: FastifyReply): FastifyReply => reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
