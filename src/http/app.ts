// The HTTP application: Fastify with what each route of the REST API needs, and the routes of all areas.

import Fastify, { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController, type RouteOptions } from 'fastify'
import type { Redis } from 'ioredis'
import type { Audit } from '../actors/audit/index.ts'
import type { PluginCalls } from '../actors/plugin/index.ts'
import type { Config } from '../config/index.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { newUuid } from '../platform/ids.ts'
import { makeLimitStore } from '../platform/limit-stores.ts'
import type { Logger } from '../platform/logger.ts'
import type { LoopWatch } from '../platform/loop-watch.ts'
import type { CountRequest } from './metrics/count-requests.ts'
import { addAcceptConstraint } from './plugins/accept-constraint.ts'
import { withSingleSlashes } from './plugins/addresses.ts'
import { auditHooks } from './plugins/audit.ts'
import { type Auth, type Authenticate, makeAuth } from './plugins/auth.ts'
import { addBodyParsers, BODY_LIMIT } from './plugins/bodies.ts'
import { answerClientError } from './plugins/client-errors.ts'
import { conditionalJson } from './plugins/conditional.ts'
import { addDefaultHeaders, makeDefaultHeaders } from './plugins/default-headers.ts'
import { addDraining } from './plugins/draining.ts'
import { isTypedWhenEmpty, typeEmptyAnswers } from './plugins/empty-json.ts'
import { addErrorHandling, answerError } from './plugins/errors.ts'
import { parseQuery } from './plugins/form-fields.ts'
import { named } from './plugins/named.ts'
import { addOpenApi } from './plugins/openapi.ts'
import { addOperations } from './plugins/operations.ts'
import { filterHooks } from './plugins/plugin-filters.ts'
import { addRateLimits } from './plugins/rate-limit.ts'
import type { RateLimits } from './plugins/rate-limit-groups.ts'
import { limitsOf } from './plugins/rate-limit-groups.ts'
import { makeRequestIds } from './plugins/request-id.ts'
import { addRequestLog } from './plugins/request-log.ts'
import { addBodyDeadline, CONNECTIONS_CHECK_MS, HEADERS_TIMEOUT_MS } from './plugins/slow-bodies.ts'
import { scopeOf, secretHooks } from './plugins/token-scopes.ts'
import type { App, Area } from './plugins/types.ts'
import { addUnknownRoutes } from './plugins/unknown-routes.ts'
import { addUpgrades, shouldUpgradeCallback } from './plugins/upgrades.ts'
import { checkingSerializerCompiler, plainSerializerCompiler, validatorCompiler } from './plugins/validation.ts'
import { addVideoSecretLimits } from './plugins/video-secrets.ts'
import { invalidateAfterWrites, type Written } from './plugins/writes.ts'

export type { App, Area } from './plugins/types.ts'

export interface AppOptions {
  config: () => Config
  logger: Logger
  /** Public address of this server, such as `https://videos.example.org`. */
  publicUrl: string
  authenticate: Authenticate
  /** Shares the rate limits of all processes; without it each process counts its own. */
  rateLimitRedis?: Redis
  areas: Area[]
  /** Called before the response of requests that may have changed cached data. */
  written?: Written
  /** Plugins that change or refuse. */
  filters?: Pick<PluginCalls, 'handles' | 'filter' | 'hidden'>
  /** Notified of the user behind a change. */
  audit?: Pick<Audit, 'as'>
  /** Validates every response with its zod schema (tests). */
  checkResponses?: boolean
  /** Version of this software, for the documentation. */
  version: string
  clock?: Clock
  /** True if the server is about to stop. */
  isDraining?: () => boolean
  /** Attributes event loop time to requests. */
  loopWatch?: Pick<LoopWatch, 'run'> | undefined
  /** Called after every response. */
  countRequest?: CountRequest | undefined
  newRequestId?: () => string
  /** Called for every added route (tests). */
  onRoute?: (route: RouteOptions) => void
}

/** Longest path parameter: a handle with a host name. */
const LONGEST_PARAMETER = 400

/** Makes the application with its routes; use `listen()` of server.ts or `inject()`. */
export async function makeApp(options: AppOptions): Promise<App> {
  const { config, logger, publicUrl, authenticate, rateLimitRedis, areas, version } = options
  const { clock = systemClock, newRequestId = newUuid, checkResponses = false } = options
  const { isDraining = () => false, countRequest, loopWatch } = options
  const atStart = config()

  const setDefaultHeaders = makeDefaultHeaders(atStart)
  const loggerInstance: FastifyBaseLogger = logger
  const app: App = Fastify({
    loggerInstance,
    // A logger per request would cost more than most hooks: log calls add the request id themselves.
    childLoggerFactory: (shared) => shared,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: makeRequestIds(newRequestId),
    trustProxy: [...atStart.trust_proxy],
    bodyLimit: BODY_LIMIT,
    return503OnClosing: false,
    rewriteUrl: withSingleSlashes,
    // Some routes are registered with a trailing slash.
    routerOptions: { querystringParser: parseQuery, maxParamLength: LONGEST_PARAMETER, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => {
      setDefaultHeaders(request, reply)
      answerError(error, request, reply)
    },
    clientErrorHandler: answerClientError,
    http: {
      shouldUpgradeCallback,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
    },
  })
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(checkResponses ? checkingSerializerCompiler : plainSerializerCompiler)
  app.decorateRequest('session', null)

  const auth = makeAuth({ authenticate })
  if (loopWatch) nameWork(app, loopWatch)
  addErrorHandling(app)
  addDraining(app, { timeoutMs: atStart.vireo.runtime.drain_timeout, isDraining })
  addUpgrades(app)
  addRequestLog(app, { config, logger })
  if (countRequest) {
    app.addHook('onResponse', (request, reply, done) => {
      countRequest(request, reply)
      done()
    })
  }
  addBodyDeadline(app, { longestMs: atStart.vireo.uploads.legacy_timeout })
  addDefaultHeaders(app, setDefaultHeaders)
  await addBodyParsers(app)
  const prefix = `vireo:limit:${new URL(publicUrl).host}:`
  const store = makeLimitStore({ redis: rateLimitRedis, prefix, clock })
  const rateLimits = await addRateLimits(app, { config: atStart, clock, store, identify: auth.identify })
  addVideoSecretLimits(app, { config: atStart, clock, store })
  app.addHook('onRoute', (route) =>
    frameRoute(route, { auth, rateLimits, written: options.written, audit: options.audit, filters: options.filters }),
  )
  if (options.onRoute) app.addHook('onRoute', options.onRoute)
  addOpenApi(app, { publicUrl, version })
  addOperations(app)
  addAcceptConstraint(app)
  addUnknownRoutes(app)

  for (const area of areas) await app.register(named('area', async (scope: App) => area(scope)))
  await app.ready()
  return app
}

/** A body arrives in another async context than its request, so that the request is named again after it. */
function nameWork(app: App, { run }: Pick<LoopWatch, 'run'>): void {
  const name = (request: FastifyRequest, _reply: FastifyReply, done: () => void): void =>
    run(`${request.method} ${request.routeOptions.url ?? 'unknown'}`, done)
  app.addHook('onRequest', name)
  app.addHook('preValidation', name)
}

/** Rate limits first, then authentication, then the route's own hooks. */
function frameRoute(
  route: RouteOptions,
  frame: { auth: Auth; rateLimits: RateLimits; written: AppOptions['written']; audit: AppOptions['audit']; filters: AppOptions['filters'] },
): void {
  const { auth, rateLimits, written, audit, filters } = frame
  const { auth: level, right, limits, etag } = route.config ?? {}
  const limited = limitsOf(route.url, limits)
  const limiting = limited.length > 0 ? rateLimits.hooks(limited) : undefined
  const guard = auth.guard({ auth: level, right, scope: scopeOf(route) })

  route.onRequest = [...list(limiting?.onRequest), ...list(guard), ...list(route.onRequest)]
  route.onResponse = [...list(limiting?.onResponse), ...list(route.onResponse)]
  if (filters) {
    const { preHandler, onSend } = filterHooks(route, filters)
    // First, so that what follows sees the answer that is sent.
    route.onSend = [...onSend, ...list(route.onSend)]
    route.preHandler = [...list(route.preHandler), ...preHandler]
  }
  if (route.method === 'GET' && route.url.startsWith('/api/') && etag !== false) {
    route.onSend = [...list(route.onSend), conditionalJson({ always: etag === true })]
  }
  if (written) route.onSend = [...list(route.onSend), ...invalidateAfterWrites(list(route.method), route.url, written)]
  route.preHandler = [...list(route.preHandler), ...secretHooks(list(route.method), route.url)]
  if (audit) route.preHandler = [...list(route.preHandler), ...auditHooks(list(route.method), route.url, audit)]
  if (isTypedWhenEmpty(String(route.method), route.url)) route.onSend = [...list(route.onSend), typeEmptyAnswers]
}

function list<T>(value: T | T[] | undefined): T[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}
