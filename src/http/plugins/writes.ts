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
 * Writes that affect neither lists of videos, nor videos, nor their pages, nor `users/me` of others. What jobs do after them is announced by
 * the jobs. `users/me` of the requester ends with its session.
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
  'POST /api/v1/users/:id/two-factor/confirm-request',
  'POST /api/v1/users/:id/two-factor/disable',
  'DELETE /api/v1/vireo/sessions/:id',
  'POST /api/v1/vireo/push-subscriptions',
  'POST /api/v1/vireo/push-subscriptions/remove',
  // New users have no videos.
  'POST /api/v1/users',
  'POST /api/v1/users/registrations/:registrationId/accept',
  'POST /api/v1/users/registrations/:registrationId/reject',
  'DELETE /api/v1/users/registrations/:registrationId',
  // The route invalidates what shows a new name or description.
  'PUT /api/v1/users/me',
  // Mutes of users hide nothing from visitors, and sessions tell who mutes.
  'POST /api/v1/users/me/blocklist/accounts',
  'DELETE /api/v1/users/me/blocklist/accounts/:accountName',
  'POST /api/v1/users/me/blocklist/servers',
  'DELETE /api/v1/users/me/blocklist/servers/:host',
  'POST /api/v1/vireo/my-account-blocklist',
  'POST /api/v1/vireo/my-server-blocklist',
  'POST /api/v1/users/:userId/exports/request',
  'DELETE /api/v1/users/:userId/exports/:id',
  'PUT /api/v1/users/me/notification-settings',
  'POST /api/v1/users/me/notifications/read',
  'POST /api/v1/users/me/notifications/read-all',
  'POST /api/v1/users/me/history/videos/remove',
  'DELETE /api/v1/users/me/history/videos/:videoId',
  'POST /api/v1/abuses',
  'PUT /api/v1/abuses/:id',
  'DELETE /api/v1/abuses/:id',
  'POST /api/v1/abuses/:id/messages',
  'DELETE /api/v1/abuses/:id/messages/:messageId',
  // They tag later comments and videos, for their owners.
  'POST /api/v1/watched-words/accounts/:accountName/lists',
  'PUT /api/v1/watched-words/accounts/:accountName/lists/:listId',
  'DELETE /api/v1/watched-words/accounts/:accountName/lists/:listId',
  'POST /api/v1/watched-words/server/lists',
  'PUT /api/v1/watched-words/server/lists/:listId',
  'DELETE /api/v1/watched-words/server/lists/:listId',
  'PUT /api/v1/automatic-tags/policies/accounts/:accountName/comments',
  'POST /api/v1/server/contact',
  'POST /api/v1/server/logs/client',
  'POST /api/v1/server/debug/run-command',
  'POST /api/v1/jobs/pause',
  'POST /api/v1/jobs/resume',
  'POST /api/v1/vireo/peers/:host/retry',
  'POST /api/v1/vireo/parked-activities/:id/retry',
  'DELETE /api/v1/vireo/parked-activities/:id',
  'POST /api/v1/server/redundancy/videos',
  // Runners ask every few seconds. Their results change videos by commands with events.
  'POST /api/v1/runners/register',
  'POST /api/v1/runners/unregister',
  'DELETE /api/v1/runners/:runnerId',
  'POST /api/v1/runners/registration-tokens/generate',
  'DELETE /api/v1/runners/registration-tokens/:registrationTokenId',
  'POST /api/v1/runners/jobs/request',
  'POST /api/v1/runners/jobs/:jobUUID/accept',
  'POST /api/v1/runners/jobs/:jobUUID/abort',
  'POST /api/v1/runners/jobs/:jobUUID/update',
  'POST /api/v1/runners/jobs/:jobUUID/error',
  'POST /api/v1/runners/jobs/:jobUUID/success',
  'POST /api/v1/runners/jobs/:jobUUID/cancel',
  'DELETE /api/v1/runners/jobs/:jobUUID',
  'POST /api/v1/runners/jobs/:jobUUID/files/videos/:videoId/max-quality',
  'POST /api/v1/runners/jobs/:jobUUID/files/videos/:videoId/max-quality/audio',
  'POST /api/v1/runners/jobs/:jobUUID/files/videos/:videoId/previews/max-quality',
  'POST /api/v1/runners/jobs/:jobUUID/files/videos/:videoId/studio/task-files/:filename',
  'POST /api/v1/videos/:id/token',
  'POST /api/v1/videos/:id/give-ownership',
  'POST /api/v1/videos/ownership/:id/refuse',
  'POST /api/v1/videos/:videoId/captions/generate',
  // Videos appear with the last piece of an upload, and at the end of an import.
  'POST /api/v1/videos/upload-resumable',
  'DELETE /api/v1/videos/upload-resumable',
  'POST /api/v1/videos/:id/source/replace-resumable',
  'DELETE /api/v1/videos/:id/source/replace-resumable',
  'POST /api/v1/videos/imports',
  'POST /api/v1/videos/imports/:id/cancel',
  'POST /api/v1/videos/imports/:id/retry',
  'DELETE /api/v1/videos/imports/:id',
  'POST /api/v1/video-channels/:channelHandle/import-videos',
  'POST /api/v1/video-channel-syncs',
  'POST /api/v1/video-channel-syncs/:channelSyncId/sync',
  'DELETE /api/v1/video-channel-syncs/:channelSyncId',
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
  'POST /api/v1/vireo/users/:userId/imports',
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
  federated(): Promise<void>
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
        await Promise.all([isSeen && written.seen(), isFederated && written.federated()])
      }
      return payload
    },
  ]
}
