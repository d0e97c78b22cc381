// Pictures and small files of videos and actors, ours and (fetched when they are first read) those of other servers.

import { z } from 'zod'
import { notFound } from '../../actors/runtime/index.ts'
import { thumbnailTypes } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { FileKind, FileRef, Store } from '../../media/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Area } from '../plugins/types.ts'
import { serveFile } from '../static/serve-file.ts'
import { type FetchRemoteFile, makeRemoteImages, type RemoteImage } from './remote-images.ts'

export interface LazyStaticDeps {
  db: Database
  store: Store
  config: () => Config
  logger: Logger
  fetchRemoteFile: FetchRemoteFile
}

/** Folder of the address, kind in the store, and which pictures of other servers lie there. */
const FOLDERS: readonly { path: string; kind: FileKind; remote?: Pick<RemoteImage, 'of' | 'type'> }[] = [
  { path: 'thumbnails', kind: 'thumbnails', remote: { of: 'video', type: thumbnailTypes.miniature } },
  { path: 'previews', kind: 'previews', remote: { of: 'video', type: thumbnailTypes.preview } },
  { path: 'avatars', kind: 'avatars', remote: { of: 'actor', type: 1 } },
  { path: 'banners', kind: 'avatars', remote: { of: 'actor', type: 2 } },
  { path: 'video-captions', kind: 'captions' },
  { path: 'storyboards', kind: 'storyboards' },
  { path: 'torrents', kind: 'torrents' },
]

/** Adds `/lazy-static/*`. Answers HEAD as well. */
export function lazyStaticArea(deps: LazyStaticDeps): Area {
  const { store, config } = deps
  const fetchRemoteImage = makeRemoteImages({ ...deps, maxBytes: () => config().vireo.uploads.max_image_size })
  const cacheControl = () => `public, max-age=${Math.floor(config().vireo.caching.static.lazy_server / 1000)}`

  return (app) => {
    for (const { path, kind, remote } of FOLDERS) {
      app.route({
        method: ['GET', 'HEAD'],
        url: `/lazy-static/${path}/:filename`,
        schema: { params: z.object({ filename: z.string().max(255) }), hide: true },
        handler: async (request, reply) => {
          const { filename } = request.params
          if (!/^[\w-][\w.-]*$/.test(filename)) throw notFound('File not found')
          const ref: FileRef = { kind, name: filename }
          if (remote && !(await store.stat(ref))) await fetchRemoteImage({ ...remote, ref })
          return serveFile(request, reply, { store, refs: [ref], cacheControl: cacheControl() })
        },
      })
    }
  }
}
