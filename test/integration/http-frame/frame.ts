// The HTTP frame with routes that expose its behaviour, without a database.

import type { Redis } from 'ioredis'
import { z } from 'zod'
import type { Session } from '../../../src/actors/session/index.ts'
import { type App, makeApp } from '../../../src/http/app.ts'
import { sessionOf } from '../../../src/http/plugins/auth.ts'
import type { Written } from '../../../src/http/plugins/writes.ts'
import type { Clock } from '../../../src/platform/clock.ts'
import { type Logger, silentLogger } from '../../../src/platform/logger.ts'
import { testConfig } from '../../support/config.ts'

const sessionFor = (username: string, role: 0 | 1 | 2): Session => ({
  id: role + 1,
  user: { id: role + 1, username, role, accountId: 1, actorId: 1, videoQuota: -1, videoQuotaDaily: -1 },
  scopes: null,
  nsfwPolicy: 'display',
  mutes: false,
  language: null,
})

const sessions: Record<string, Session> = {
  admintoken: sessionFor('root', 0),
  moderatortoken: sessionFor('mo', 1),
  usertoken: sessionFor('una', 2),
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

export interface FrameOptions {
  config?: Record<string, unknown>
  add?: (app: App) => void
  clock?: Clock
  redis?: Redis
  logger?: Logger
  checkResponses?: boolean
  publicUrl?: string
  /** Tokens that were looked up. */
  lookups?: string[]
  written?: Written
}

const whoView = z.object({ username: z.string().nullable() })

/** The frame with routes of every authorization level, and those of the test. */
export function makeFrame(options: FrameOptions = {}): Promise<App> {
  const config = testConfig(options.config)
  return makeApp({
    config: () => config,
    logger: options.logger ?? silentLogger,
    publicUrl: options.publicUrl ?? 'http://localhost:9000',
    authenticate: async (token) => {
      options.lookups?.push(token)
      return sessions[token] ?? null
    },
    areas: [addSamples, ...(options.add ? [options.add] : [])],
    checkResponses: options.checkResponses ?? true,
    version: '1.2.3',
    ...(options.clock ? { clock: options.clock } : {}),
    ...(options.written ? { written: options.written } : {}),
    ...(options.redis ? { rateLimitRedis: options.redis } : {}),
  })
}

function addSamples(app: App): void {
  const schema = { response: { 200: whoView } }
  const who = (session: Session | null) => ({ username: session?.user.username ?? null })

  app.get('/api/v1/none', { schema }, (request) => who(request.session))
  app.get('/api/v1/optional', { schema, config: { auth: 'optional' } }, (request) => who(request.session))
  app.get('/api/v1/user', { schema, config: { auth: 'user' } }, (request) => who(sessionOf(request)))
  app.get('/api/v1/moderator', { schema, config: { auth: 'moderator' } }, (request) => who(sessionOf(request)))
  app.get('/api/v1/admin', { schema, config: { auth: 'admin' } }, (request) => who(sessionOf(request)))
  app.get('/api/v1/abuses', { schema, config: { right: 'MANAGE_ABUSES' } }, (request) => who(sessionOf(request)))
  app.get('/api/v1/logs', { schema, config: { right: 'MANAGE_LOGS' } }, (request) => who(sessionOf(request)))
  app.get('/api/v1/ping', { config: { limits: false } }, (_request, reply) =>
    reply.header('content-type', 'text/html; charset=utf-8').send('pong'),
  )
}
