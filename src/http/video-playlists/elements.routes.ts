// Elements of playlists: the videos, their order, and the playlists that contain a video.

import { z } from 'zod'
import {
  assertMayManagePlaylist,
  assertMaySeePlaylist,
  findPlaylistKey,
  listElements,
  listPlaylistsWith,
  type PlaylistElements,
  type PlaylistKey,
  type PlaylistWith,
} from '../../actors/playlist/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import { assertMaySee, type FileTokens, findVideoAccess, findVideoIds } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { toShortUuid } from '../../platform/ids.ts'
import { sessionOf } from '../plugins/auth.ts'
import { idOrUuid, idText, listOf, oneOrMore, paging, readIdOrUuid } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import type { Here } from '../videos/actor.view.ts'
import { tokensFor } from '../videos/address-token.ts'
import { assertActorFollowed, seesStrangers } from '../videos/follow-constraints.ts'
import { viewerOf } from '../videos/viewer.ts'
import { elementChanges, newElement, reordering } from './fields.ts'
import type { RefreshStale } from './refresh-stale.ts'
import { elementView, toElementView } from './views.ts'

const tags = ['Video Playlists']
const byKey = z.object({ playlistId: idOrUuid('playlist') })
const byElement = z.object({ playlistId: idOrUuid('playlist'), playlistElementId: idText })

const placeView = z.object({
  playlistElementId: z.int(),
  playlistId: z.int(),
  playlistDisplayName: z.string(),
  playlistShortUUID: z.string(),
  startTimestamp: z.int().nullable(),
  stopTimestamp: z.int().nullable(),
})

/** Adds `/api/v1/video-playlists/:playlistId/videos` and `/api/v1/users/me/video-playlists/videos-exist`. */
export function playlistElementsArea(deps: {
  db: Database
  config: () => Config
  urls: Here
  fileTokens: Pick<FileTokens, 'issue'>
  elements: PlaylistElements
  refreshStale: RefreshStale
}): Area {
  const { db, config, urls, fileTokens, elements, refreshStale } = deps

  async function existing(key: PlaylistKey) {
    const playlist = await findPlaylistKey(db, key)
    if (!playlist) throw notFound('Video playlist not found')
    return playlist
  }

  return (app) => {
    app.get(
      '/api/v1/video-playlists/:playlistId/videos',
      {
        config: { auth: 'optional' },
        schema: {
          tags: ['Video'],
          params: byKey,
          querystring: z.object(paging(config())),
          response: { 200: listOf(elementView) },
        },
      },
      async (request) => {
        const { params, query, session } = request
        const viewer = viewerOf(session)
        const playlist = await existing(params.playlistId)
        assertMaySeePlaylist(playlist, viewer, { byId: 'id' in params.playlistId })
        const { accountId, url: originUrl, remote } = playlist
        if (remote) await assertActorFollowed(deps, session !== null, { accountId, originUrl })
        await refreshStale(playlist)
        const { total, rows } = await listElements(db, {
          playlistId: playlist.id,
          watcher: viewer?.accountId,
          ...query,
        })
        const strangers = seesStrangers(deps, session !== null)
        const options = { here: urls, strangers, tokenOf: tokensFor(fileTokens, request) }
        return { total, data: await Promise.all(rows.map((row) => toElementView(row, viewer, options))) }
      },
    )

    app.post(
      '/api/v1/video-playlists/:playlistId/videos',
      {
        config: { auth: 'user' },
        schema: {
          tags: ['Video'],
          params: byKey,
          body: newElement,
          response: { 200: z.object({ videoPlaylistElement: z.object({ id: z.int() }) }) },
        },
      },
      async (request) => {
        const by = viewerOf(sessionOf(request))
        const { videoId: key, ...timestamps } = request.body
        const playlist = await existing(request.params.playlistId)
        assertMayManagePlaylist(playlist, by, 'UPDATE_ANY_VIDEO_PLAYLIST')
        const video = await findVideoAccess(db, key)
        if (!video) throw notFound('Video not found')
        assertMaySee(video, by)
        const id = await elements.add(playlist.id, by, { videoId: video.id, ...timestamps })
        return { videoPlaylistElement: { id } }
      },
    )

    app.post(
      '/api/v1/video-playlists/:playlistId/videos/reorder',
      {
        config: { auth: 'user' },
        schema: {
          tags,
          params: byKey,
          body: reordering,
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        const { startPosition: start, insertAfterPosition: after, reorderLength: length = 1 } = request.body
        const { id } = await existing(request.params.playlistId)
        await elements.move(id, viewerOf(sessionOf(request)), { start, after, length })
        return reply.code(204).send(null)
      },
    )

    app.put(
      '/api/v1/video-playlists/:playlistId/videos/:playlistElementId',
      {
        config: { auth: 'user' },
        schema: {
          tags,
          params: byElement,
          body: elementChanges.nullish(),
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        const { id } = await existing(request.params.playlistId)
        const { playlistElementId } = request.params
        await elements.change(id, playlistElementId, viewerOf(sessionOf(request)), request.body ?? {})
        return reply.code(204).send(null)
      },
    )

    app.delete(
      '/api/v1/video-playlists/:playlistId/videos/:playlistElementId',
      {
        config: { auth: 'user' },
        schema: { tags, params: byElement, response: { 204: z.null() } },
      },
      async (request, reply) => {
        const { id } = await existing(request.params.playlistId)
        await elements.remove(id, request.params.playlistElementId, viewerOf(sessionOf(request)))
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/api/v1/users/me/video-playlists/videos-exist',
      {
        config: { auth: 'user' },
        schema: {
          tags,
          querystring: z.object({ videoIds: oneOrMore(namedVideo).default([]) }),
          response: { 200: z.record(z.string(), z.array(placeView)) },
        },
      },
      async (request) => {
        const { videoIds } = request.query
        const { accountId } = sessionOf(request).user
        const ids = await findVideoIds(
          db,
          videoIds.map(({ key }) => key),
        )
        const known = ids.filter((id) => id !== undefined)
        const found = known.length === 0 ? [] : await listPlaylistsWith(db, { accountId, videoIds: known })
        const places = Map.groupBy(found, (one): number | undefined => one.video_id)
        return Object.fromEntries(videoIds.map(({ text }, index) => [text, (places.get(ids[index]) ?? []).map(toPlaceView)]))
      },
    )
  }
}

/** The response names each video as the request did. */
const namedVideo = z.string().transform((text, context) => {
  const key = readIdOrUuid(text)
  if (key) return { text, key }
  // Clients see an invalid number as null.
  context.issues.push({ code: 'custom', input: null, message: 'Should have valid video ids' })
  return z.NEVER
})

const toPlaceView = (row: PlaylistWith): z.infer<typeof placeView> => ({
  playlistElementId: row.element_id,
  playlistId: row.playlist_id,
  playlistDisplayName: row.name,
  playlistShortUUID: toShortUuid(row.uuid),
  startTimestamp: row.start_timestamp,
  stopTimestamp: row.stop_timestamp,
})
