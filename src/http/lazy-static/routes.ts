// Pictures and small files of videos and actors, local and (fetched on the first request) remote ones.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findPlaylistPicture } from '../../actors/playlist/index.ts'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import {
  type DrawPictures,
  type FileTokens,
  findAccessBySmallFile,
  findRemoteActorImage,
  findTorrent,
  hasPrivateFiles,
  type SmallFileKind,
  type VideoAccessRow,
} from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { FileKind, FileRef, Store } from '../../media/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Logger } from '../../platform/logger.ts'
import { attachment, savedName } from '../downloads/file-names.ts'
import type { Area } from '../plugins/types.ts'
import { openFile, PRIVATE_FILE, PRIVATE_PART } from '../static/caching.ts'
import { assertMayRead, tokenQuery } from '../static/file-token.ts'
import { plain } from '../static/names.ts'
import { folderIn, locate, type ServeOptions, serveFile } from '../static/serve-file.ts'
import { passwordOf } from '../videos/viewer.ts'
import { makeAwaitPicture } from './awaited-pictures.ts'
import { makeCacheLimit } from './cache-limit.ts'
import { checkCaption, checkPicture, checkTorrent, type FetchRemoteFile, makeRemoteFiles, type RemoteFile } from './remote-files.ts'

const REFUSALS = { 404: '' }

export interface LazyStaticDeps extends DrawPictures {
  db: Database
  store: Store
  /** Cache of remote files. */
  remoteCache: Store
  clock: Clock
  config: () => Config
  logger: Logger
  fetchRemoteFile: FetchRemoteFile
  fileTokens: FileTokens
}

/** Files of videos: only for those who may see the video. */
const VIDEO_FILES = [
  { path: 'thumbnails', kind: 'thumbnails', of: 'thumbnail', check: checkPicture },
  { path: 'previews', kind: 'previews', of: 'preview', check: checkPicture },
  { path: 'video-captions', kind: 'captions', of: 'caption', check: checkCaption },
  { path: 'storyboards', kind: 'storyboards', of: 'storyboard', check: checkPicture },
] as const

/** Pictures of actors, by their type. */
const ACTOR_IMAGES = [
  { path: 'avatars', type: 1 },
  { path: 'banners', type: 2 },
] as const

/** How a file is served, if it differs from a picture. */
type How = Partial<Pick<ServeOptions, 'caching' | 'disposition'>>

const params = z.object({ filename: z.string().max(255) })

/** Adds `/lazy-static/*`, and downloads of torrents, also for HEAD. */
export function lazyStaticArea(deps: LazyStaticDeps): Area {
  const { db, store, remoteCache, config } = deps
  const kept = makeCacheLimit({ ...deps, store: remoteCache, most: (kind) => mostOf(config(), kind) })
  const waitMs = () => config().vireo.federation.fetch.file_wait
  const bring = makeRemoteFiles({ ...deps, store: remoteCache, kept, waitMs })
  const awaitPicture = makeAwaitPicture(deps)
  const open = (lifetime: 'lazy_server' | 'server' = 'lazy_server') => openFile(Math.floor(config().vireo.caching.static[lifetime] / 1000))
  const largest = (kind: FileKind) => config().vireo.uploads[kind === 'captions' ? 'max_caption_size' : 'max_image_size']

  /** Throws unless the video is public, or the requester may read its files. Returns true if the file is guarded. */
  async function assertReadable(request: FastifyRequest, video: VideoAccessRow, token: string | undefined, { always = false } = {}) {
    const isGuarded = hasPrivateFiles(video) && (always || config().static_files.private_files_require_auth)
    if (isGuarded) await assertMayRead(deps.fileTokens, request, video, token)
    return isGuarded
  }

  /** Finds a file and how to serve it, once it exists. Throws `not_found`, `busy`, and like `assertReadable`. */
  async function findFile(
    request: FastifyRequest,
    { of, filename, token }: { of: SmallFileKind; filename: string; token: string | undefined },
  ): Promise<{ fileUrl: string | null; isGuarded: boolean }> {
    const file = await findAccessBySmallFile(db, { of, filename }, passwordOf(request))
    if (file) {
      const isGuarded = await assertReadable(request, file, token)
      if (file.isAwaited && !(await awaitPicture({ filename, videoId: file.id }))) {
        throw new DomainError('busy', 'This picture is being drawn.')
      }
      return { fileUrl: file.fileUrl, isGuarded }
    }
    // Pictures of playlists are stored with those of videos.
    const picture = of === 'thumbnail' ? await findPlaylistPicture(db, filename) : undefined
    if (!picture) throw notFound('File not found')
    return { ...picture, isGuarded: false }
  }

  async function findUrl(of: SmallFileKind, filename: string): Promise<string | undefined> {
    const file = await findAccessBySmallFile(db, { of, filename })
    return (file ?? (of === 'thumbnail' ? await findPlaylistPicture(db, filename) : undefined))?.fileUrl ?? undefined
  }

  const serve = (request: FastifyRequest, reply: FastifyReply, ref: FileRef, how: How = {}) =>
    serveFile(request, reply, {
      store,
      refs: [ref],
      caching: open(),
      ...how,
      delivery: config().vireo.delivery,
    })

  /** Serves it from the cache, after fetching it if necessary. */
  async function serveRemote(request: FastifyRequest, reply: FastifyReply, file: RemoteFile, how: How = {}) {
    await bring(file)
    const { delivery } = config().vireo
    const location = delivery.x_accel_location
    return await serveFile(request, reply, {
      store: remoteCache,
      refs: [file.ref],
      caching: open(),
      ...how,
      delivery: { ...delivery, x_accel_location: location && folderIn(location, 'cache') },
    })
  }

  return (app) => {
    for (const { path, type } of ACTOR_IMAGES) {
      app.route({
        method: ['GET', 'HEAD'],
        url: `/lazy-static/${path}/:filename`,
        config: { plainRefusals: REFUSALS },
        schema: { params, hide: true },
        handler: async (request, reply) => {
          const ref: FileRef = { kind: 'avatars', name: plain(request.params.filename) }
          if (await locate(store, [ref])) return serve(request, reply, ref)
          const urlOf = () => findRemoteActorImage(db, { type, filename: ref.name })
          if ((await urlOf()) === undefined) throw notFound('File not found')
          return serveRemote(request, reply, { ref, maxBytes: largest('avatars'), urlOf, check: checkPicture })
        },
      })
    }

    for (const { path, kind, of, check } of VIDEO_FILES) {
      app.route({
        method: ['GET', 'HEAD'],
        url: `/lazy-static/${path}/:filename`,
        config: { auth: 'optional', plainRefusals: REFUSALS },
        schema: { params, querystring: tokenQuery, hide: true },
        handler: async (request, reply) => {
          const ref: FileRef = { kind, name: plain(request.params.filename) }
          const token = request.query.videoFileToken
          const { fileUrl, isGuarded } = await findFile(request, { of, filename: ref.name, token })
          const caching = isGuarded ? PRIVATE_PART : open()
          if (fileUrl === null) return serve(request, reply, ref, { caching })
          const urlOf = () => findUrl(of, ref.name)
          return serveRemote(request, reply, { ref, maxBytes: largest(kind), urlOf, check }, { caching })
        },
      })
    }

    for (const isDownload of [false, true]) {
      app.route({
        method: ['GET', 'HEAD'],
        url: `/${isDownload ? 'download' : 'lazy-static'}/torrents/:filename`,
        config: { auth: 'optional', plainRefusals: isDownload ? { 403: 'Forbidden' } : REFUSALS },
        schema: {
          params,
          querystring: tokenQuery,
          hide: true,
          ...(isDownload ? { tags: ['Video Download'] } : {}),
        },
        handler: async (request, reply) => {
          const name = plain(request.params.filename)
          const torrent = await findTorrent(db, name, passwordOf(request))
          if (!torrent) throw notFound(isDownload ? 'Torrent file not found' : 'File not found')
          const isGuarded = await assertReadable(request, torrent, request.query.videoFileToken, { always: isDownload })
          // A torrent describes files, and must not be cached longer than those.
          const caching = isGuarded ? PRIVATE_FILE : isDownload ? openFile(0) : open('server')
          const { name: video, resolution, hls, fileUrl } = torrent
          const saved = isDownload ? { disposition: attachment(savedName({ video, resolution, hls }, '.torrent')) } : {}
          const ref: FileRef = { kind: 'torrents', name }
          if (fileUrl === null) return serve(request, reply, ref, { caching, ...saved })
          const urlOf = async () => (await findTorrent(db, name))?.fileUrl ?? undefined
          const file = { ref, maxBytes: config().vireo.uploads.max_torrent_size, urlOf, check: checkTorrent }
          return serveRemote(request, reply, file, { caching, ...saved })
        },
      })
    }
  }
}

/** Limit of cached remote files. */
function mostOf({ cache, vireo }: Config, kind: FileKind): number {
  switch (kind) {
    case 'previews':
    case 'captions':
    case 'storyboards':
    case 'torrents':
      return cache[kind].size
    case 'avatars':
      return vireo.caching.kept.avatars
    default:
      return vireo.caching.kept.thumbnails
  }
}
