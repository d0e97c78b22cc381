// The rate limits of the contract: the paths that they cover, and how they count.

import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler, onResponseHookHandler } from 'fastify'
export const limitGroups = [
  'api',
  'login',
  'signup',
  'ask_send_email',
  'receive_client_log',
  'plugins',
  'well_known',
  'feeds',
  'activity_pub',
  'client',
  'download_generate_video',
] as const
export type LimitGroup = (typeof limitGroups)[number]

/** Groups in which a refused request (4xx, 5xx) does not count. */
export const countsSuccesses: ReadonlySet<LimitGroup> = new Set<LimitGroup>(['signup', 'download_generate_video'])

const BY_PATH: readonly (readonly [prefix: string, group: LimitGroup])[] = [
  ['/api/', 'api'],
  ['/nodeinfo/', 'api'],
  ['/feeds/', 'feeds'],
  ['/.well-known/', 'well_known'],
  ['/download/videos/generate/', 'download_generate_video'],
  ['/plugins/', 'plugins'],
  ['/themes/', 'plugins'],
]

/** The limits of a route: the one of its path first, then its own. */
export function limitsOf(url: string, own: readonly LimitGroup[] | false | undefined): LimitGroup[] {
  if (own === false) return []
  const byPath = BY_PATH.find(([prefix]) => url.startsWith(prefix))
  return [...new Set([...(byPath ? [byPath[1]] : []), ...(own ?? [])])]
}

export interface RateLimits {
  /** Counts the request in one group and sets the headers. Throws 429 if the limit is reached. */
  take(group: LimitGroup, request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Requests over this connection inside the process count no more in the group `api`: they are parts of a request that has counted. */
  exempt(socket: object): void
  /** Hooks for a route in these groups; the last one sets the headers of the response. */
  hooks(groups: LimitGroup[]): { onRequest: onRequestAsyncHookHandler; onResponse?: onResponseHookHandler }
}
