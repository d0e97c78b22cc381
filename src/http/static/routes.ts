// Files of local videos and of copies: open ones for everybody, private ones for those who may see the video.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import { assertMaySee, findAccessByWebVideo, findVideoAccess, type VideoAccessRow } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import { type FileRef, hlsFile, mirrorFolder, type Store, webVideoFile } from '../../media/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { isUuid } from '../../platform/ids.ts'
import type { Area } from '../plugins/types.ts'
import { passwordOf, viewerOf } from '../videos/viewer.ts'
import { serveFile, typeOf } from './serve-file.ts'

export interface StaticDeps {
  db: Database
  store: Store
  config: () => Config
}

const fileName = z.object({ filename: z.string().max(255) })
const hlsName = z.object({ uuid: z.string().max(36), filename: z.string().max(255) })

/** Adds `/static/web-videos`, `/static/streaming-playlists` and `/static/redundancy`. Answers HEAD as well. */
export function staticArea({ db, store, config }: StaticDeps): Area {
  const lifetime = () => Math.floor(config().vireo.caching.static.server / 1000)
  const guards = () => config().static_files.private_files_require_auth

  const serveOpen = (request: FastifyRequest, reply: FastifyReply, ref: FileRef) =>
    serveFile(request, reply, { store, refs: [ref], cacheControl: `public, max-age=${lifetime()}` })

  const servePrivate = (request: FastifyRequest, reply: FastifyReply, refs: FileRef[]) => {
    const type = typeOf(refs[0]?.name ?? '')
    const playlist = type === 'application/vnd.apple.mpegurl' ? { type: `${type}; charset=utf-8` } : {}
    return serveFile(request, reply, { store, refs, cacheControl: 'private, no-cache', ...playlist })
  }

  return (app) => {
    for (const path of ['/static/web-videos/:filename', '/static/webseed/:filename']) {
      app.route({
        method: ['GET', 'HEAD'],
        url: path,
        schema: { params: fileName, hide: true },
        handler: (request, reply) => serveOpen(request, reply, webVideoFile(plain(request.params.filename), false)),
      })
    }

    for (const path of ['/static/web-videos/private/:filename', '/static/webseed/private/:filename']) {
      app.route({
        method: ['GET', 'HEAD'],
        url: path,
        config: { auth: 'optional' },
        schema: { params: fileName, hide: true },
        handler: async (request, reply) => {
          const name = plain(request.params.filename)
          if (guards()) {
            assertCredentials(request)
            assertAllowed(request, await findAccessByWebVideo(db, name, passwordOf(request)))
          }
          // A file on its way to the open folder is still served here.
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
        return serveOpen(request, reply, hlsFile(uuid, filename, false))
      },
    })

    // Copies of other servers' videos, which are for everybody.
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
      handler: (request, reply) =>
        serveOpen(request, reply, { kind: 'redundancy', name: plain(request.params.filename) }),
    })

    app.route({
      method: ['GET', 'HEAD'],
      url: '/static/streaming-playlists/hls/private/:uuid/:filename',
      config: { auth: 'optional' },
      schema: { params: hlsName, hide: true },
      handler: async (request, reply) => {
        const { uuid, filename } = hlsNames(request.params)
        if (guards()) {
          assertCredentials(request)
          assertAllowed(request, await findVideoAccess(db, { uuid }, passwordOf(request)))
        }
        return servePrivate(request, reply, [hlsFile(uuid, filename, true), hlsFile(uuid, filename, false)])
      },
    })
  }
}

/** Private files are never given to somebody who says nothing about themselves, whatever is at the address. */
function assertCredentials(request: FastifyRequest): void {
  if (request.session || passwordOf(request)) return
  const sentToken = new URL(request.url, 'http://localhost').searchParams.has('videoFileToken')
  throw new DomainError(
    'forbidden',
    sentToken
      ? 'The file token is not valid.'
      : 'A bearer token or the password of the video is needed to read this file.',
  )
}

function assertAllowed(request: FastifyRequest, video: VideoAccessRow | undefined): void {
  if (!video || video.remote) throw new DomainError('forbidden', 'This file cannot be read.')
  const viewer = viewerOf(request.session)
  assertMaySee(video, viewer, { password: video.password })
}

function hlsNames({ uuid, filename }: { uuid: string; filename: string }) {
  if (!isUuid(uuid)) throw notFound('File not found')
  return { uuid: uuid.toLowerCase(), filename: plain(filename) }
}

/** Our own files have plain names: nothing else is looked for. */
function plain(filename: string): string {
  if (!/^[\w-][\w.-]*$/.test(filename)) throw notFound('File not found')
  return filename
}
