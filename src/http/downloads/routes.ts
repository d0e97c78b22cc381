// Downloads: stored files under the name of their video, retained originals, and muxed picture and sound.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import {
  assertMayChange,
  assertMaySee,
  type DownloadRow,
  type FileTokens,
  findDownload,
  findDownloads,
  findKeptUpload,
  hasPrivateFiles,
  type Openness,
  type StoredFileRow,
} from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import { type FileRef, hlsFile, type Store, webVideoFile } from '../../media/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { idOrUuid, someIds } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { openFile, PRIVATE_FILE } from '../static/caching.ts'
import { assertCredentials, assertMayRead, tokenQuery } from '../static/file-token.ts'
import { plain } from '../static/names.ts'
import { redirectToSignedStorage } from '../static/redirect-to-storage.ts'
import { locate, type ServeOptions, serveFile, typeOf } from '../static/serve-file.ts'
import { passwordOf, viewerOf } from '../videos/viewer.ts'
import { attachment, NO_PLAIN_NAME, readDownloadName, savedName } from './file-names.ts'
import { extensionOf, type Plan, planDownload } from './generate.ts'
import type { OpenMux } from './mux.ts'

export interface DownloadsDeps {
  db: Database
  store: Store
  config: () => Config
  fileTokens: FileTokens
  openMux: OpenMux
}

interface SavedFile {
  /** Possible locations. */
  refs: readonly FileRef[]
  /** The file name for saving. */
  name: string
  /** By default, the type of the file name. */
  type?: string
  isPrivate: boolean
}

const tags = ['Video Download']
const params = z.object({ filename: z.string().max(255) })
const MAX_FILES = 2
/** A name stays when its file is replaced: caches must revalidate each time. */
const OPEN = openFile(0)
const REFUSALS = { 403: 'Forbidden' }

/** Adds `/download/*`, also for HEAD. */
export function downloadsArea({ db, store, config, fileTokens, openMux }: DownloadsDeps): Area {
  const send = (request: FastifyRequest, reply: FastifyReply, options: Omit<ServeOptions, 'store' | 'delivery'>) =>
    serveFile(request, reply, { store, delivery: config().vireo.delivery, ...options })

  /** Redirects to object storage if readers may access it. */
  async function sendVideo(request: FastifyRequest, reply: FastifyReply, file: SavedFile) {
    const { refs, name, type = typeOf(name), isPrivate } = file
    const disposition = attachment(name)
    const isProxied = isPrivate && config().object_storage.proxy.proxify_private_files
    if (!isProxied && (await redirectToSignedStorage(reply, { store, refs, saved: { disposition, type } }))) return reply
    return await send(request, reply, { refs, disposition, type, caching: isPrivate ? PRIVATE_FILE : OPEN })
  }

  /** Throws unless the requester may see the video, and its files may be downloaded. */
  async function assertMayDownload(
    request: FastifyRequest,
    video: DownloadRow,
    { token, byId = false }: { token: string | undefined; byId?: boolean },
  ): Promise<void> {
    if (hasPrivateFiles(video)) {
      assertCredentials(request, token)
      await assertMayRead(fileTokens, request, video, token)
    } else if (byId) {
      assertMaySee(video, viewerOf(request.session), { byId })
    }
    if (!video.downloadEnabled) throw new DomainError('forbidden', 'The files of this video are not for download.')
  }

  /** The streams of the plan; the file itself if it has them all. */
  async function sendPlan(request: FastifyRequest, reply: FastifyReply, video: DownloadRow, plan: Plan) {
    const name = `${video.name}${extensionOf(plan)}`
    if ('file' in plan) {
      const isPrivate = hasPrivateFiles(video)
      return await sendVideo(request, reply, { refs: placesOf(video, plan.file), name, isPrivate })
    }
    const [picture, sound] = await Promise.all([plan.picture, plan.sound].map((file) => locate(store, placesOf(video, file))))
    if (!picture || !sound) throw notFound('File not found')
    reply.headers({ 'content-disposition': attachment(name), 'cache-control': 'no-store' }).type(typeOf(name))
    if (request.method === 'HEAD') return reply.send()
    const leaving = new AbortController()
    reply.raw.once('close', () => leaving.abort())
    return reply.send(await openMux({ picture: picture.ref, sound: sound.ref }, leaving.signal))
  }

  return (app) => {
    for (const { path, hls } of [
      { path: 'web-videos', hls: false },
      { path: 'streaming-playlists/hls/videos', hls: true },
    ]) {
      app.route({
        method: ['GET', 'HEAD'],
        url: `/download/${path}/:filename(${NO_PLAIN_NAME})`,
        config: { auth: 'optional', plainRefusals: REFUSALS },
        schema: { tags, params, querystring: tokenQuery, hide: true },
        handler: async (request, reply) => {
          const named = readDownloadName(request.params.filename, { hls })
          const video = named && (await findDownload(db, { ...named, hls }, passwordOf(request)))
          if (!named || !video) throw notFound('Video file not found')
          await assertMayDownload(request, video, { token: request.query.videoFileToken })
          const { resolution, extname } = named
          return await sendVideo(request, reply, {
            refs: placesOf(video, { hls, filename: video.filename }),
            name: savedName({ video: video.name, resolution, hls }, extname),
            isPrivate: hasPrivateFiles(video),
          })
        },
      })
    }

    // Originals are only for those who may change the video.
    app.route({
      method: ['GET', 'HEAD'],
      url: '/download/original-video-files/:filename',
      config: { auth: 'optional', plainRefusals: REFUSALS },
      schema: { tags, params, querystring: tokenQuery, hide: true },
      handler: async (request, reply) => {
        const name = plain(request.params.filename)
        const token = request.query.videoFileToken
        const video = await findKeptUpload(db, name)
        if (!video) throw notFound('Video file not found')
        assertCredentials(request, token)
        const viewer = token ? await fileTokens.holder(token, video) : viewerOf(request.session)
        if (!viewer) throw new DomainError('forbidden', 'Only its owner and the staff may download this file.')
        assertMayChange(video, viewer, 'UPDATE_ANY_VIDEO')
        return await sendVideo(request, reply, {
          refs: [{ kind: 'original_video_files', name }],
          name: video.inputFilename,
          type: typeOf(name),
          isPrivate: true,
        })
      },
    })

    app.route({
      method: ['GET', 'HEAD'],
      url: '/download/videos/generate/:videoId',
      config: { auth: 'optional', plainRefusals: REFUSALS },
      schema: {
        tags,
        operationId: 'getDownloadVideosGenerateVideoId',
        params: z.object({ videoId: idOrUuid('video') }),
        querystring: tokenQuery.extend({ videoFileIds: someIds({ max: MAX_FILES }) }),
      },
      handler: async (request, reply) => {
        const { videoId: key } = request.params
        const { videoFileIds, videoFileToken: token } = request.query
        const fileIds = [...new Set(videoFileIds)]
        const video = await findDownloads(db, key, { fileIds, password: passwordOf(request) })
        if (!video) throw notFound('Video not found')
        await assertMayDownload(request, video, { token, byId: 'id' in key })
        const plan = video.files.length === fileIds.length ? planDownload(video.files) : undefined
        if (!plan) throw notFound('The video has no such file.')
        return await sendPlan(request, reply, video, plan)
      },
    })
  }
}

/** In the folder of its privacy, and in the one that it may still be moved from. */
function placesOf(video: Openness & { uuid: string }, { hls, filename }: Pick<StoredFileRow, 'hls' | 'filename'>): FileRef[] {
  const isPrivate = hasPrivateFiles(video)
  return [isPrivate, !isPrivate].map((hidden) => (hls ? hlsFile(video.uuid, filename, hidden) : webVideoFile(filename, hidden)))
}
