// Files of local videos and of local copies: public ones for everybody, private ones for those who may see the video.

import { text } from 'node:stream/consumers'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import { type FileTokens, findAccessByWebVideo, findVideoAccess, type VideoAccessRow } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import { type FileRef, hlsFile, mirrorFolder, type Store, webVideoFile } from '../../media/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { HttpError } from '../plugins/http-error.ts'
import type { Area } from '../plugins/types.ts'
import { passwordOf } from '../videos/viewer.ts'
import { openFile, PRIVATE_FILE } from './caching.ts'
import { assertCredentials, assertMayRead, playlistQuery, tokenQuery, withTokens } from './file-token.ts'
import { isOfLive, liveText } from './live-playlists.ts'
import { hlsNames, plain } from './names.ts'
import { redirectToSignedStorage, redirectToStorage } from './redirect-to-storage.ts'
import { openFirst, serveFile, typeOf } from './serve-file.ts'

export interface StaticDeps {
  db: Database
  store: Store
  config: () => Config
  fileTokens: FileTokens
}

const PLAYLIST = 'application/vnd.apple.mpegurl'
/** Private files in object storage have addresses of their own, with the same checks. */
const PRIVATE_WEB_VIDEOS = [
  '/static/web-videos',
  '/static/webseed',
  '/object-storage-proxy/web-videos',
  '/object-storage-proxy/webseed',
].map((path) => `${path}/private/:filename`)
const PRIVATE_HLS = ['/static', '/object-storage-proxy'].map((path) => `${path}/streaming-playlists/hls/private/:uuid/:filename`)
const fileName = z.object({ filename: z.string().max(255) })
const hlsName = z.object({ uuid: z.string().max(36), filename: z.string().max(255) })

/** Adds `/static/web-videos`, `/static/streaming-playlists` and `/static/redundancy`, also for HEAD. */
export function staticArea({ db, store, config, fileTokens }: StaticDeps): Area {
  const lifetime = () => Math.floor(config().vireo.caching.static.server / 1000)
  const delivery = () => config().vireo.delivery
  const proxies = () => config().object_storage.proxy.proxify_private_files
  const guards = () => config().static_files.private_files_require_auth

  const serveOpen = async (request: FastifyRequest, reply: FastifyReply, ref: FileRef) => {
    const caching = openFile(lifetime())
    if (await redirectToStorage(reply, { store, ref, caching })) return reply
    return serveFile(request, reply, { store, refs: [ref], absent, delivery: delivery(), caching })
  }

  const servePrivate = async (request: FastifyRequest, reply: FastifyReply, refs: FileRef[]) => {
    if (!proxies() && (await redirectToSignedStorage(reply, { store, refs }))) return reply
    const type = typeOf(refs[0]?.name ?? '')
    const kind = type === PLAYLIST ? { type: `${type}; charset=utf-8` } : { absent }
    return serveFile(request, reply, { store, refs, caching: PRIVATE_FILE, delivery: delivery(), ...kind })
  }

  async function assertAllowed(request: FastifyRequest, video: VideoAccessRow | undefined, token: string | undefined): Promise<void> {
    if (!video || video.remote) throw forbidden()
    try {
      await assertMayRead(fileTokens, request, video, token)
    } catch (error) {
      const isBadToken = token !== undefined && error instanceof DomainError && error.kind === 'forbidden'
      throw isBadToken ? forbidden(error) : error
    }
  }

  /** Players without token support follow the addresses as they are. */
  async function servePlaylist(reply: FastifyReply, refs: FileRef[], token: string): Promise<FastifyReply> {
    const opened = await openFirst(store, refs)
    if (!opened) throw notFound('File not found')
    reply.headers({ 'content-type': `${PLAYLIST}; charset=utf-8`, ...PRIVATE_FILE })
    return reply.send(withTokens(await text(opened.stream), token))
  }

  /** Playlists of lives change with each piece. */
  async function serveLive(reply: FastifyReply, live: { uuid: string; filename: string; isPublic: boolean }, token?: string) {
    const found = await liveText({ db, config }, live)
    if (found === undefined) throw absent()
    reply.headers({ 'content-type': typeOf(live.filename), 'cache-control': live.isPublic ? 'public, max-age=0' : 'private, max-age=0' })
    return reply.send(token ? withTokens(found, token) : found)
  }

  return (app) => {
    for (const path of ['/static/web-videos/:filename', '/static/webseed/:filename']) {
      app.route({
        method: ['GET', 'HEAD'],
        url: path,
        schema: { params: fileName, hide: true },
        handler: (request, reply) => serveOpen(request, reply, webVideoFile(plain(request.params.filename, noName), false)),
      })
    }

    for (const path of PRIVATE_WEB_VIDEOS) {
      app.route({
        method: ['GET', 'HEAD'],
        url: path,
        config: { auth: 'optional' },
        schema: { params: fileName, querystring: tokenQuery, hide: true },
        handler: async (request, reply) => {
          const name = plain(request.params.filename)
          const { videoFileToken: token } = request.query
          if (guards()) {
            assertCredentials(request, token)
            await assertAllowed(request, await findAccessByWebVideo(db, name, passwordOf(request)), token)
          }
          // A file that is being moved to the public folder is still served here.
          return servePrivate(request, reply, [webVideoFile(name, true), webVideoFile(name, false)])
        },
      })
    }

    app.route({
      method: ['GET', 'HEAD'],
      url: '/static/streaming-playlists/hls/:uuid/:filename',
      schema: { params: hlsName, hide: true },
      handler: (request, reply) => {
        const { uuid, filename } = hlsNames(request.params)
        if (isOfLive(filename)) return serveLive(reply, { uuid, filename, isPublic: true })
        return serveOpen(request, reply, hlsFile(uuid, filename, false))
      },
    })

    // Local copies of remote videos, which are public.
    app.route({
      method: ['GET', 'HEAD'],
      url: '/static/redundancy/hls/:uuid/:filename',
      schema: { params: hlsName, hide: true },
      handler: (request, reply) => {
        const { uuid, filename } = hlsNames(request.params)
        const { kind, name } = mirrorFolder(uuid)
        return serveOpen(request, reply, { kind, name: `${name}/${filename}` })
      },
    })
    app.route({
      method: ['GET', 'HEAD'],
      url: '/static/redundancy/:filename',
      schema: { params: fileName, hide: true },
      handler: (request, reply) => serveOpen(request, reply, { kind: 'redundancy', name: plain(request.params.filename) }),
    })

    for (const path of PRIVATE_HLS) {
      app.route({
        method: ['GET', 'HEAD'],
        url: path,
        config: { auth: 'optional' },
        schema: { params: hlsName, querystring: playlistQuery, hide: true },
        handler: async (request, reply) => {
          const { uuid, filename } = hlsNames(request.params)
          const { videoFileToken: token, reinjectVideoFileToken: reinject = false } = request.query
          if (guards()) {
            assertCredentials(request, token)
            await assertAllowed(request, await findVideoAccess(db, { uuid }, passwordOf(request)), token)
          }
          if (isOfLive(filename)) return serveLive(reply, { uuid, filename, isPublic: false }, reinject ? token : undefined)
          const refs = [hlsFile(uuid, filename, true), hlsFile(uuid, filename, false)]
          if (reinject && token && typeOf(filename) === PLAYLIST) return servePlaylist(reply, refs, token)
          return servePrivate(request, reply, refs)
        },
      })
    }
  }
}

/** The response that clients expect for names that lead outside of the folder. */
const noName = (): Error => new HttpError(404, 'File not found', { code: 'NotFoundError' })
/** The code that clients expect for a missing file. */
const absent = (): Error => new HttpError(404, 'File not found', { code: 'Error' })

/** The same for a file that the requester may not read. */
const forbidden = (cause?: Error): HttpError => new HttpError(403, 'Forbidden', { text: 'Forbidden', cause })
