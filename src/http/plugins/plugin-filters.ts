// Filters of plugins at the edge of the API: what they may change in answers, and what they may refuse. A table of routes and hooks; a route
// without a handler of its hook works as if there were none.

import type { onSendHookHandler, preHandlerHookHandler, RouteOptions } from 'fastify'
import { z } from 'zod'
import type { PluginCalls } from '../../actors/plugin/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { fits } from '../../platform/first-fault.ts'

/** Hooks that get the answer of a route, and return another one of the same form. */
export const RESULTS: Readonly<Record<string, string>> = {
  'GET /api/v1/videos': 'filter:api.videos.list.result',
  'GET /api/v1/videos/:id': 'filter:api.video.get.result',
  'GET /api/v1/search/videos': 'filter:api.search.videos.local.list.result',
  'GET /api/v1/accounts/:name/videos': 'filter:api.accounts.videos.list.result',
  'GET /api/v1/video-channels/:channelHandle/videos': 'filter:api.video-channels.videos.list.result',
  'GET /api/v1/users/me/videos': 'filter:api.user.me.videos.list.result',
  'GET /api/v1/users/me': 'filter:api.user.me.get.result',
  'GET /api/v1/videos/:id/comment-threads': 'filter:api.video-threads.list.result',
  'GET /api/v1/videos/:id/comment-threads/:threadId': 'filter:api.video-thread-comments.list.result',
  'GET /api/v1/video-playlists/:playlistId/videos': 'filter:api.video-playlist.videos.list.result',
  'GET /api/v1/server/stats': 'filter:api.server.stats.get.result',
}

/** Hooks that may refuse a request, by the field that says so. */
export const REFUSALS: Readonly<Record<string, { hook: string; field: 'accepted' | 'allowed' }>> = {
  'POST /api/v1/videos/upload': { hook: 'filter:api.video.upload.accept.result', field: 'accepted' },
  'POST /api/v1/videos/upload-resumable': { hook: 'filter:api.video.upload.accept.result', field: 'accepted' },
  'POST /api/v1/videos/live': { hook: 'filter:api.live-video.create.accept.result', field: 'accepted' },
  'POST /api/v1/videos/imports': { hook: 'filter:api.video.pre-import-url.accept.result', field: 'accepted' },
  'POST /api/v1/videos/:id/comment-threads': { hook: 'filter:api.video-thread.create.accept.result', field: 'accepted' },
  'POST /api/v1/videos/:id/comments/:commentId': { hook: 'filter:api.video-comment-reply.create.accept.result', field: 'accepted' },
  'POST /api/v1/users/register': { hook: 'filter:api.user.signup.allowed.result', field: 'allowed' },
  'POST /api/v1/users/registrations/request': { hook: 'filter:api.user.request-signup.allowed.result', field: 'allowed' },
}

/** Lists of constants, from which plugins may remove values. */
export const CONSTANTS = {
  'GET /api/v1/videos/languages': 'language',
  'GET /api/v1/videos/licences': 'licence',
  'GET /api/v1/videos/categories': 'category',
  'GET /api/v1/videos/privacies': 'privacy',
  'GET /api/v1/video-playlists/privacies': 'playlistPrivacy',
} as const

type Filters = Pick<PluginCalls, 'handles' | 'filter' | 'hidden'>

const LONGEST_REASON = 500
/** Never for plugins. */
const SECRET = /password|token/i

/** The hooks of a route: of its handler, and of its answer. */
export function filterHooks(
  { method, url, schema }: Pick<RouteOptions, 'method' | 'url' | 'schema'>,
  filters: Filters,
): { preHandler: preHandlerHookHandler[]; onSend: onSendHookHandler[] } {
  const names = [method].flat().map((one) => `${one} ${url}`)
  const refusal = names.flatMap((name) => REFUSALS[name] ?? [])
  const result = names.flatMap((name) => RESULTS[name] ?? [])
  return {
    preHandler: refusal.map((one) => mayRefuse(one, filters)),
    onSend: [
      ...result.map((hook) => mayChange(hook, answerOf(schema?.response), filters)),
      ...names.flatMap((name) => (isConstant(name) ? mayHide(CONSTANTS[name], filters) : [])),
    ],
  }
}

const isConstant = (name: string): name is keyof typeof CONSTANTS => Object.hasOwn(CONSTANTS, name)

function mayHide(kind: (typeof CONSTANTS)[keyof typeof CONSTANTS], filters: Filters): onSendHookHandler {
  return (_request, _reply, payload, done) => {
    const hidden = filters.hidden(kind)
    if (hidden.length === 0 || typeof payload !== 'string') return done(null, payload)
    const labels = Object.entries(JSON.parse(payload)).filter(([key]) => !hidden.includes(key))
    done(null, JSON.stringify(Object.fromEntries(labels)))
  }
}

function mayRefuse({ hook, field }: { hook: string; field: string }, filters: Filters): preHandlerHookHandler {
  return (request, _reply, done) => {
    if (!filters.handles(hook)) return done()
    const { id, username, role } = request.session?.user ?? {}
    const params = { params: request.params, body: openFields(request.body), user: id === undefined ? null : { id, username, role } }
    const isGood = (value: unknown): boolean =>
      typeof value === 'object' && value !== null && typeof Reflect.get(value, field) === 'boolean'
    filters
      .filter(hook, { [field]: true }, params, isGood)
      .then((answer) => refusalOf(answer as Record<string, unknown>, field))
      .then(done, done)
  }
}

function refusalOf(answer: Record<string, unknown>, field: string): DomainError | undefined {
  const { [field]: isIn = true, errorMessage } = answer
  if (isIn === true) return undefined
  const reason = typeof errorMessage === 'string' && errorMessage !== '' ? errorMessage : 'A plugin of this server refuses this.'
  return new DomainError('forbidden', reason.slice(0, LONGEST_REASON))
}

function openFields(body: unknown): object | null {
  if (typeof body !== 'object' || body === null || Buffer.isBuffer(body)) return null
  return Object.fromEntries(Object.entries(body).filter(([name]) => !SECRET.test(name)))
}

function mayChange(hook: string, schema: z.ZodType | undefined, filters: Filters): onSendHookHandler {
  const isGood = (value: unknown): boolean => (schema ? fits(schema, value) : typeof value === 'object' && value !== null)
  return (request, reply, payload, done) => {
    if (reply.statusCode !== 200 || typeof payload !== 'string' || !filters.handles(hook)) return done(null, payload)
    const user = request.session?.user
    const params = {
      params: request.params,
      query: request.query,
      user: user ? { id: user.id, username: user.username, role: user.role } : null,
    }
    const before: unknown = JSON.parse(payload)
    filters
      .filter(hook, before, params, isGood)
      .then((after) => {
        if (after === before) return payload
        const changed = JSON.stringify(after)
        // They are of the other answer.
        reply.removeHeader('etag')
        reply.removeHeader('content-length')
        return changed
      })
      .then((answer) => done(null, answer), done)
  }
}

/** The schema of the answer 200, if there is one. */
function answerOf(responses: unknown): z.ZodType | undefined {
  const schema: unknown = typeof responses === 'object' && responses !== null ? Reflect.get(responses, 200) : undefined
  return schema instanceof z.ZodType ? schema : undefined
}
