// Pictures and small files of videos and actors, ours and (fetched when they are first read) those of other servers.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findRemotePicture } from '../../actors/playlist/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import {
  type FileTokens,
  findAccessByPart,
  findRemoteImage,
  hasPrivateFiles,
  isBlockedTorrent,
  thumbnailTypes,
} from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { FileKind, FileRef, Store } from '../../media/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Area } from '../plugins/types.ts'
import { openFile, PRIVATE_PART } from '../static/caching.ts'
import { assertMayRead, tokenQuery } from '../static/file-token.ts'
import { plain } from '../static/names.ts'
import { folderIn, locate, serveFile } from '../static/serve-file.ts'
import { passwordOf } from '../videos/viewer.ts'
import { makeKeptFiles } from './kept-files.ts'
import { checkCaption, checkPicture, type FetchRemoteFile, makeRemoteFiles, type RemoteFile } from './remote-files.ts'

const REFUSALS = { 404: '' }

export interface LazyStaticDeps {
  db: Database
  store: Store
  /** Holds what was fetched from other servers. */
  remoteCache: Store
  clock: Clock
  config: () => Config
  logger: Logger
  fetchRemoteFile: FetchRemoteFile
  fileTokens: FileTokens
}

/** Folder of the address, kind in the store, and which pictures of other servers lie there. */
const OPEN_FOLDERS: readonly { path: string; kind: FileKind; remote?: { of: 'video' | 'actor'; type: number } }[] = [
  { path: 'thumbnails', kind: 'thumbnails', remote: { of: 'video', type: thumbnailTypes.miniature } },
  { path: 'previews', kind: 'previews', remote: { of: 'video', type: thumbnailTypes.preview } },
  { path: 'avatars', kind: 'avatars', remote: { of: 'actor', type: 1 } },
  { path: 'banners', kind: 'avatars', remote: { of: 'actor', type: 2 } },
  { path: 'torrents', kind: 'torrents' },
]

/** What these hold is for those only who may see the video. */
const PARTS = [
  { path: 'video-captions', kind: 'captions', of: 'caption', check: checkCaption },
  { path: 'storyboards', kind: 'storyboards', of: 'storyboard', check: checkPicture },
] as const

const params = z.object({ filename: z.string().max(255) })

/** Adds `/lazy-static/*`. Answers HEAD as well. */
export function lazyStaticArea(deps: LazyStaticDeps): Area {
  const { db, store, remoteCache, config } = deps
  const kept = makeKeptFiles({ ...deps, store: remoteCache, most: (kind) => mostOf(config(), kind) })
  const waitMs = () => config().vireo.federation.fetch.file_wait
  const bring = makeRemoteFiles({ ...deps, store: remoteCache, kept, waitMs })
  const open = (lifetime: 'lazy_server' | 'server' = 'lazy_server') =>
    openFile(Math.floor(config().vireo.caching.static[lifetime] / 1000))
  const largest = (kind: FileKind) =>
    config().vireo.uploads[kind === 'captions' ? 'max_caption_size' : 'max_image_size']

  /** Throws unless whoever asks may see the video that the file belongs to. */
  async function findPart(
    request: FastifyRequest,
    { of, filename, token }: { of: 'caption' | 'storyboard'; filename: string; token: string | undefined },
  ) {
    const part = await findAccessByPart(db, { of, filename }, passwordOf(request))
    if (!part) throw notFound('File not found')
    const isGuarded = hasPrivateFiles(part) && config().static_files.private_files_require_auth
    if (isGuarded) await assertMayRead(deps.fileTokens, request, part, token)
    return { fileUrl: part.fileUrl, isGuarded }
  }

  const serve = (request: FastifyRequest, reply: FastifyReply, ref: FileRef, caching = open()) =>
    serveFile(request, reply, {
      ...{ store, refs: [ref], caching },
      delivery: config().vireo.delivery,
    })

  /** From the cache, into which it is brought first. */
  async function serveRemote(request: FastifyRequest, reply: FastifyReply, file: RemoteFile, caching = open()) {
    await bring(file)
    const { delivery } = config().vireo
    const location = delivery.x_accel_location
    return await serveFile(request, reply, {
      ...{ store: remoteCache, refs: [file.ref], caching },
      delivery: { ...delivery, x_accel_location: location && folderIn(location, 'cache') },
    })
  }

  return (app) => {
    for (const { path, kind, remote } of OPEN_FOLDERS) {
      app.route({
        method: ['GET', 'HEAD'],
        url: `/lazy-static/${path}/:filename`,
        config: { plainRefusals: REFUSALS },
        schema: { params, hide: true },
        handler: async (request, reply) => {
          const ref: FileRef = { kind, name: plain(request.params.filename) }
          if (kind === 'torrents' && (await isBlockedTorrent(db, ref.name))) throw notFound('File not found')
          // A torrent is of files, and kept no longer than those.
          if (!remote) return serve(request, reply, ref, open('server'))
          if (await locate(store, [ref])) return serve(request, reply, ref)
          const urlOf = async () =>
            (await findRemoteImage(db, { ...remote, filename: ref.name })) ??
            // Those of playlists lie among those of videos.
            (kind === 'thumbnails' ? await findRemotePicture(db, ref.name) : undefined)
          if ((await urlOf()) === undefined) throw notFound('File not found')
          return serveRemote(request, reply, { ref, maxBytes: largest(kind), urlOf, check: checkPicture })
        },
      })
    }

    for (const { path, kind, of, check } of PARTS) {
      app.route({
        method: ['GET', 'HEAD'],
        url: `/lazy-static/${path}/:filename`,
        config: { auth: 'optional', plainRefusals: REFUSALS },
        schema: { params, querystring: tokenQuery, hide: true },
        handler: async (request, reply) => {
          const ref: FileRef = { kind, name: plain(request.params.filename) }
          const token = request.query.videoFileToken
          const { fileUrl, isGuarded } = await findPart(request, { of, filename: ref.name, token })
          const caching = isGuarded ? PRIVATE_PART : open()
          if (fileUrl === null) return serve(request, reply, ref, caching)
          const urlOf = async () => (await findAccessByPart(db, { of, filename: ref.name }))?.fileUrl ?? undefined
          return serveRemote(request, reply, { ref, maxBytes: largest(kind), urlOf, check }, caching)
        },
      })
    }
  }
}

/** Files of other servers that stay. */
function mostOf({ cache, vireo }: Config, kind: FileKind): number {
  switch (kind) {
    case 'previews':
    case 'captions':
    case 'storyboards':
      return cache[kind].size
    case 'avatars':
      return vireo.caching.kept.avatars
    default:
      return vireo.caching.kept.thumbnails
  }
}
