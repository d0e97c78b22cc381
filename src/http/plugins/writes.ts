// Invalidates caches after requests that changed something, before their response: the writer never reads older data, and removed content
// is served to nobody.

import type { onSendAsyncHookHandler } from 'fastify'

/** Writes after which other servers must not read older documents. Additions can wait for their notification. */
const FEDERATED: ReadonlySet<string> = new Set([
  'POST /api/v1/videos/:id/comments/:commentId/approve',
  'DELETE /api/v1/videos/:id/comments/:commentId',
  'POST /api/v1/bulk/remove-comments-of',
  'PUT /api/v1/video-playlists/:playlistId',
  'DELETE /api/v1/video-playlists/:playlistId',
  'PUT /api/v1/video-playlists/:playlistId/videos/:playlistElementId',
  'DELETE /api/v1/video-playlists/:playlistId/videos/:playlistElementId',
  'POST /api/v1/video-playlists/:playlistId/videos/reorder',
])

/**
 * Writes that affect neither lists of videos, nor videos, nor `users/me`. Frequent ones must be listed, or nothing would stay cached for
 * long; unlisted ones count as visible.
 */
export const INVISIBLE_WRITES: ReadonlySet<string> = new Set([
  ...FEDERATED,
  'POST /api/v1/users/token',
  'POST /api/v1/users/revoke-token',
  'POST /api/v1/users/scoped-tokens',
  'POST /api/v1/vireo/application-tokens',
  'POST /api/v1/vireo/check-up',
  'DELETE /api/v1/vireo/application-tokens/:id',
  'POST /api/v1/users/register',
  'POST /api/v1/users/registrations/request',
  'POST /api/v1/users/registrations/ask-send-verify-email',
  'POST /api/v1/users/registrations/:registrationId/verify-email',
  'POST /api/v1/users/ask-send-verify-email',
  'POST /api/v1/users/ask-reset-password',
  'POST /api/v1/users/:id/reset-password',
  'POST /api/v1/users/:id/verify-email',
  'POST /api/v1/users/:id/two-factor/request',
  'POST /api/v1/users/:userId/exports/request',
  'DELETE /api/v1/users/:userId/exports/:id',
  'PUT /api/v1/users/me/notification-settings',
  'POST /api/v1/users/me/history/videos/remove',
  'DELETE /api/v1/users/me/history/videos/:videoId',
  'POST /api/v1/abuses',
  'PUT /api/v1/abuses/:id',
  'DELETE /api/v1/abuses/:id',
  'POST /api/v1/abuses/:id/messages',
  'DELETE /api/v1/abuses/:id/messages/:messageId',
  'POST /api/v1/videos/:id/token',
  // Videos do not contain the number of comments, and comments invalidate the page of their video themselves.
  'POST /api/v1/videos/:id/comment-threads',
  'POST /api/v1/videos/:id/comments/:commentId',
  // Views are counted in batches, each second.
  'POST /api/v1/videos/:id/views',
  'PUT /api/v1/videos/:id/views',
  'PUT /api/v1/videos/:id/watching',
  'POST /api/v1/metrics/playback',
  // Imports emit their own events.
  'POST /api/v1/users/:userId/imports/import-resumable',
  'PUT /api/v1/users/:userId/imports/import-resumable',
  'DELETE /api/v1/users/:userId/imports/import-resumable',
  'POST /api/v1/video-playlists',
  'POST /api/v1/video-playlists/:playlistId/videos',
  // Ratings and follows invalidate what shows them themselves; numbers of followers are shown within seconds.
  'PUT /api/v1/videos/:id/rate',
  'POST /api/v1/users/me/subscriptions',
  'DELETE /api/v1/users/me/subscriptions/:uri',
])

/** The caches to invalidate. */
export interface Written {
  /** Videos and lists of them may have changed. */
  seen(): Promise<void>
  /** Documents for other servers may have changed. */
  told(): Promise<void>
}

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** The hooks of a route. A server error may occur after a partial write; a refusal changed nothing. */
export function invalidateAfterWrites(methods: string[], url: string, written: Written): onSendAsyncHookHandler[] {
  const routes = methods.filter((method) => !SAFE.has(method)).map((method) => `${method} ${url}`)
  if (!url.startsWith('/api/v1/') || routes.length === 0) return []
  const isSeen = routes.some((route) => !INVISIBLE_WRITES.has(route))
  const isFederated = routes.some((route) => FEDERATED.has(route) || !INVISIBLE_WRITES.has(route))
  if (!isSeen && !isFederated) return []
  return [
    async (_request, reply, payload) => {
      if (reply.statusCode < 300 || reply.statusCode >= 500) {
        await Promise.all([isSeen && written.seen(), isFederated && written.told()])
      }
      return payload
    },
  ]
}
