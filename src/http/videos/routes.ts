// Videos: lists, one video, its description and files' metadata, change and removal.

import { z } from 'zod'
import { channelExists } from '../../actors/channel/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import type { Uploads } from '../../actors/upload/index.ts'
import {
  assertFollowed,
  assertMayChange,
  assertMaySee,
  categoryLabels,
  type FileTokens,
  findDescription,
  findFileMetadata,
  findVideoAccess,
  findVideoDetails,
  type LookedAt,
  languageLabels,
  licenceLabels,
  privacyLabels,
  type RemoveVideo,
  type UpdateVideo,
  type VideoAccessRow,
  type VideoKey,
  type VideoListQuery,
  videoPrivacies,
} from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { HttpError } from '../plugins/http-error.ts'
import { addFormRoutes } from '../plugins/multipart.ts'
import { idOrUuid, idText, listOf } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import type { Here } from './actor.view.ts'
import { tokensFor } from './address-token.ts'
import { updateFields } from './fields.ts'
import { assertMayList, listQuery, ownListQuery, toListQuery } from './list.ts'
import { makeNsfwFilter } from './nsfw-filter.ts'
import { type FitPicture, makeReceiveChanges } from './receive-changes.ts'
import type { VideoResponseCache } from './response-cache.ts'
import { includes, toVideoDetailsView, videoDetailsView, videoView } from './video.view.ts'
import type { VideoPages } from './video-pages.ts'
import { passwordOf, readerOf, viewerOf } from './viewer.ts'

export interface VideosDeps {
  db: Database
  config: () => Config
  urls: Here
  fileTokens: Pick<FileTokens, 'issue'>
  /** For the pictures of a form. */
  uploads: Pick<Uploads, 'beginForm'>
  /** From `makeUpdateVideo` and `makeRemoveVideo`. */
  videos: UpdateVideo & RemoveVideo
  fitPicture: FitPicture
  /** Called for each view of a video. */
  lookedAt: LookedAt
  /** Cache of responses; without it each is built again. */
  answers?: VideoResponseCache
  videoPages: VideoPages
}

const tags = ['Video']
const byKey = z.object({ id: idOrUuid('video') })

/** Adds `/api/v1/videos` and `/api/v1/users/me/videos`. */
export function videosArea(deps: VideosDeps): Area {
  const { db, config, urls, fileTokens, videos, lookedAt, answers, videoPages } = deps
  const receiveChanges = makeReceiveChanges(deps)
  const nsfwFilter = makeNsfwFilter(deps)

  return (app) => {
    const querystring = listQuery(config())
    app.get(
      '/api/v1/videos',
      {
        config: { auth: 'optional' },
        ...answers?.ofLists(Object.keys(querystring.shape)),
        schema: {
          tags,
          operationId: 'getVideos',
          querystring,
          response: { 200: listOf(videoView) },
        },
      },
      async (request) => {
        const { query, session } = request
        const viewer = viewerOf(session)
        assertMayList(query, viewer)
        const nsfw = nsfwFilter(query, session?.nsfwPolicy)
        const asked = toListQuery(query, {
          scope: { of: 'everybody' },
          viewer,
          reader: readerOf(session),
          nsfw,
          ownHost: urls.host,
        })
        return await videoPages(request, asked, query.include)
      },
    )

    app.get(
      '/api/v1/users/me/videos',
      {
        config: { auth: 'user' },
        schema: { tags: ['My User'], querystring: ownListQuery(config()), response: { 200: listOf(videoView) } },
      },
      async (request) => {
        const { start, count, sort, search, isLive, channelId } = request.query
        const { accountId } = sessionOf(request).user
        if (channelId !== undefined && !(await channelExists(db, channelId))) throw notFound('Video channel not found')
        const asked: VideoListQuery = {
          scope: { of: 'owner', accountId, channelId },
          watcher: accountId,
          start,
          count,
          sort,
          isLive,
          search: search || undefined,
          internal: true,
          skipCount: false,
        }
        return await videoPages(request, asked, includes.notPublished | includes.blacklisted)
      },
    )

    const constants = {
      categories: categoryLabels,
      licences: licenceLabels,
      languages: languageLabels,
      privacies: privacyLabels,
    }
    for (const [name, labels] of Object.entries(constants)) {
      const schema = { tags, response: { 200: z.record(z.string(), z.string()) } }
      app.get(`/api/v1/videos/${name}`, { schema }, () => labels)
    }

    app.get(
      '/api/v1/videos/:id',
      {
        config: { auth: 'optional' },
        ...answers?.ofVideos,
        schema: { tags, operationId: 'getVideo', params: byKey, response: { 200: videoDetailsView } },
      },
      async (request) => {
        const { id: key } = request.params
        const viewer = viewerOf(request.session)
        const video = await findVideoDetails(db, key, passwordOf(request), viewer?.accountId)
        if (!video) throw notFound('Video not found')
        const { privacy, blocked, remote, owner_account_id: ownerAccountId, password } = video
        assertMaySee({ privacy, blocked, remote, ownerAccountId }, viewer, {
          byId: 'id' in key,
          password,
        })
        assertFollowed(video, viewer, config().search.remote_uri)
        lookedAt(video)
        answers?.isAbout(request, video.id)
        return await toVideoDetailsView(video, { here: urls, tokenOf: tokensFor(fileTokens, request) })
      },
    )

    app.get(
      '/api/v1/videos/:id/description',
      {
        config: { auth: 'optional' },
        schema: {
          tags,
          operationId: 'getVideoDesc',
          params: byKey,
          response: { 200: z.object({ description: z.string().nullable() }) },
        },
      },
      async (request) => {
        const { id: key } = request.params
        const video = await findDescription(db, key, passwordOf(request))
        if (!video) throw notFound('Video not found')
        try {
          assertMaySee(video, viewerOf(request.session), { byId: 'id' in key, password: video.password })
        } catch (error) {
          if (request.session || video.privacy === videoPrivacies.passwordProtected) throw error
          throw new HttpError(401, 'Token is invalid', { code: 'unauthorized_request' })
        }
        assertFollowed(video, viewerOf(request.session), config().search.remote_uri)
        return { description: video.description }
      },
    )

    app.get(
      '/api/v1/videos/:id/metadata/:videoFileId',
      {
        config: { auth: 'optional' },
        schema: {
          tags: ['Video Files'],
          params: z.object({ id: idOrUuid('video'), videoFileId: idText }),
          response: { 200: z.record(z.string(), z.unknown()) },
        },
      },
      async (request) => {
        // Clients send the id of any video: the file decides, and the video that it belongs to.
        const file = await findFileMetadata(db, request.params.videoFileId, passwordOf(request))
        if (!file?.metadata) throw notFound('VideoFile matching Video not found')
        const { id: key } = request.params
        const isNamed = 'uuid' in key && key.uuid === file.uuid
        assertMaySee(file, viewerOf(request.session), { byId: !isNamed, password: file.password })
        assertFollowed(file, viewerOf(request.session), config().search.remote_uri)
        return file.metadata
      },
    )

    addFormRoutes(app, (forms) => {
      forms.put(
        '/api/v1/videos/:id',
        {
          config: {
            auth: 'user',
            form: {
              fields: updateFields('form'),
              json: updateFields('json'),
              files: ['thumbnailfile', 'previewfile'],
            },
          },
          schema: { tags, operationId: 'putVideo', params: byKey, response: { 204: z.null() } },
        },
        async (request, reply) => {
          const viewer = viewerOf(sessionOf(request))
          const video = await existing(request.params.id)
          await receiveChanges(
            request,
            () => assertMayChange(video, viewer, 'UPDATE_ANY_VIDEO'),
            (changes, pictures) => videos.update(video.id, viewer, changes, pictures),
          )
          return reply.code(204).send(null)
        },
      )
    })

    app.delete(
      '/api/v1/videos/:id',
      {
        config: { auth: 'user' },
        schema: { tags, operationId: 'delVideo', params: byKey, response: { 204: z.null() } },
      },
      async (request, reply) => {
        const { id } = await existing(request.params.id)
        await videos.remove(id, viewerOf(sessionOf(request)))
        return reply.code(204).send(null)
      },
    )
  }

  async function existing(key: VideoKey): Promise<VideoAccessRow> {
    const video = await findVideoAccess(db, key)
    if (!video) throw notFound('Video not found')
    return video
  }
}
