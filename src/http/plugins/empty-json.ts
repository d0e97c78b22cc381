// Empty responses with the content type JSON, as clients of the reference expect: some of its routes send the type without a body, others
// do not.

import type { onSendAsyncHookHandler } from 'fastify'

/** By method and path. */
export const TYPED_WHEN_EMPTY: ReadonlySet<string> = new Set([
  'PUT /api/v1/videos/:id',
  'DELETE /api/v1/videos/:id',
  'POST /api/v1/videos/:id/blacklist',
  'PUT /api/v1/videos/:id/blacklist',
  'DELETE /api/v1/videos/:id/blacklist',
  'POST /api/v1/videos/:id/give-ownership',
  'DELETE /api/v1/videos/:videoId/captions/:captionLanguage',
  'PUT /api/v1/video-channels/:channelHandle',
  'DELETE /api/v1/video-channels/:channelHandle',
  'POST /api/v1/video-channels/:channelHandle/import-videos',
  'DELETE /api/v1/video-channel-syncs/:channelSyncId',
  'PUT /api/v1/video-playlists/:playlistId',
  'DELETE /api/v1/video-playlists/:playlistId',
  'PUT /api/v1/video-playlists/:playlistId/videos/:playlistElementId',
  'DELETE /api/v1/video-playlists/:playlistId/videos/:playlistElementId',
  'POST /api/v1/video-playlists/:playlistId/videos/reorder',
  'DELETE /api/v1/users/me/subscriptions/:uri',
  'POST /api/v1/users/me/history/videos/remove',
])

export const isTypedWhenEmpty = (method: string, url: string): boolean => TYPED_WHEN_EMPTY.has(`${method} ${url}`)

export const typeEmptyAnswers: onSendAsyncHookHandler = async (_request, reply, payload) => {
  if (reply.statusCode !== 204) return payload
  reply.raw.setHeader('content-type', 'application/json; charset=utf-8')
  // Fastify would remove the type of any body, even of `null`.
  return null
}
