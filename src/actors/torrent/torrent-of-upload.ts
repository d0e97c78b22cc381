// The torrent of a file that just arrived, so that a video has it from its first answer on.

import { createReadStream } from 'node:fs'
import { extname } from 'node:path'
import { makeTorrent } from '../../media/index.ts'
import type { ActorDeps } from '../runtime/index.ts'
import type { TorrentOfUpload } from '../video/index.ts'
import { factsOf, magnetUriOf, newTorrentRef } from './torrents-of.ts'

/** Answers null on a server without tracker. */
export function makeTorrentOfUpload({ config, urls }: Pick<ActorDeps, 'config' | 'urls'>): TorrentOfUpload {
  const { origin } = urls
  return async ({ path, filename, resolution, size, createdAt, video, signal }) => {
    if (!config().tracker.enabled) return null
    const created = createdAt.getTime() / 1000
    const file = { filename, resolution, size, created, isHls: false, extname: extname(filename) }
    // Web videos are not named after their video.
    const described = { ...video, uuid: '' }
    const { bytes, infoHash } = await makeTorrent(createReadStream(path), factsOf(described, file, origin), { signal })
    const ref = newTorrentRef(file)
    const magnetUri = magnetUriOf(described, file, { filename: ref.name, infoHash }, origin)
    return { ref, bytes, infoHash, magnetUri }
  }
}
