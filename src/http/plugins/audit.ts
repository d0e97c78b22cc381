// Attributes the changes of a request to its user, for the audit log.

import type { preHandlerHookHandler } from 'fastify'
import type { Audit } from '../../actors/audit/index.ts'

/** Routes whose changes are logged. */
export const AUDITED: ReadonlySet<string> = new Set([
  'PUT /api/v1/config/custom',
  'DELETE /api/v1/config/custom',
  'POST /api/v1/config/instance-avatar/pick',
  'DELETE /api/v1/config/instance-avatar',
  'POST /api/v1/config/instance-banner/pick',
  'DELETE /api/v1/config/instance-banner',
  'PUT /api/v1/custom-pages/homepage/instance',
  'POST /api/v1/jobs/pause',
  'POST /api/v1/jobs/resume',
  'POST /api/v1/users',
  'PUT /api/v1/users/:id',
  'DELETE /api/v1/users/:id',
  'POST /api/v1/users/:id/block',
  'POST /api/v1/users/:id/unblock',
  'PUT /api/v1/users/me',
  'DELETE /api/v1/users/me',
  'POST /api/v1/vireo/application-tokens',
  'DELETE /api/v1/vireo/application-tokens/:id',
  // Exporting another user's data must be traceable.
  'POST /api/v1/users/:userId/exports/request',
  'DELETE /api/v1/users/:userId/exports/:id',
  // So must importing into another user's account.
  'POST /api/v1/users/:userId/imports/import-resumable',
  'POST /api/v1/vireo/users/:userId/imports',
  'POST /api/v1/users/registrations/:registrationId/accept',
  'POST /api/v1/users/registrations/:registrationId/reject',
  'DELETE /api/v1/users/registrations/:registrationId',
  'POST /api/v1/video-channels',
  'PUT /api/v1/video-channels/:channelHandle',
  'DELETE /api/v1/video-channels/:channelHandle',
  'POST /api/v1/video-channel-syncs',
  'DELETE /api/v1/video-channel-syncs/:channelSyncId',
  'POST /api/v1/videos/upload',
  'PUT /api/v1/videos/upload-resumable',
  'PUT /api/v1/videos/:id',
  'DELETE /api/v1/videos/:id',
  'PUT /api/v1/videos/:id/source/replace-resumable',
  'DELETE /api/v1/videos/:id/source/file',
  'DELETE /api/v1/videos/:id/hls',
  'DELETE /api/v1/videos/:id/hls/:videoFileId',
  'DELETE /api/v1/videos/:id/web-videos',
  'DELETE /api/v1/videos/:id/web-videos/:videoFileId',
  'POST /api/v1/videos/:id/blacklist',
  'PUT /api/v1/videos/:id/blacklist',
  'DELETE /api/v1/videos/:id/blacklist',
  'POST /api/v1/videos/ownership/:id/accept',
  'POST /api/v1/videos/imports',
  'POST /api/v1/videos/imports/:id/cancel',
  'POST /api/v1/videos/imports/:id/retry',
  'DELETE /api/v1/videos/imports/:id',
  'POST /api/v1/videos/:id/comment-threads',
  'POST /api/v1/videos/:id/comments/:commentId',
  'DELETE /api/v1/videos/:id/comments/:commentId',
  'POST /api/v1/videos/:id/comments/:commentId/approve',
  'POST /api/v1/abuses',
  'PUT /api/v1/abuses/:id',
  'DELETE /api/v1/abuses/:id',
  'POST /api/v1/server/following',
  'DELETE /api/v1/server/following/:hostOrHandle',
  'DELETE /api/v1/server/followers/:nameWithHost',
  'POST /api/v1/server/followers/:nameWithHost/accept',
  'POST /api/v1/server/followers/:nameWithHost/reject',
  'PUT /api/v1/server/redundancy/:host',
  'POST /api/v1/server/redundancy/videos',
  'DELETE /api/v1/server/redundancy/videos/:redundancyId',
  'POST /api/v1/server/blocklist/accounts',
  'DELETE /api/v1/server/blocklist/accounts/:accountName',
  'POST /api/v1/server/blocklist/servers',
  'POST /api/v1/vireo/account-blocklist',
  'POST /api/v1/vireo/server-blocklist',
  'DELETE /api/v1/server/blocklist/servers/:host',
  'POST /api/v1/watched-words/server/lists',
  'PUT /api/v1/watched-words/server/lists/:listId',
  'DELETE /api/v1/watched-words/server/lists/:listId',
  'POST /api/v1/bulk/remove-comments-of',
  'PUT /api/v1/vireo/logins',
  'PUT /api/v1/vireo/mail-server',
  'PUT /api/v1/plugins/:npmName/settings',
  'POST /api/v1/plugins/install',
  'POST /api/v1/plugins/update',
  'POST /api/v1/plugins/uninstall',
  'POST /api/v1/vireo/plugins/:npmName/enable',
  'POST /api/v1/vireo/plugins/:npmName/disable',
])

/** The last hook before the handler of a route, or none. */
export function auditHooks(methods: string[], url: string, audit: Pick<Audit, 'as'>): preHandlerHookHandler[] {
  if (!methods.some((method) => AUDITED.has(`${method} ${url}`))) return []
  return [
    (request, _reply, done) => {
      if (!request.session) return done()
      const { id, username, role } = request.session.user
      // Until the handler ends, even if the client disconnects.
      audit.as({ id, username, role }, done)
    },
  ]
}
