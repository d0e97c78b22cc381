// The foundation of nouns with files: ffmpeg, the stores, and pending files.

import type { AutomaticTags } from '../actors/automatic-tag/index.ts'
import { type ActorDeps, isDeadHere, leaseOwner } from '../actors/runtime/index.ts'
import { type Leases, makePendingFiles, makePlaceFiles, type PendingFiles, type PlaceFiles } from '../actors/video/index.ts'
import { cachePlaces, openStore } from '../connections.ts'
import { type Ffmpeg, type FileStore, findFfmpeg, makeFileStore, type Store } from '../media/index.ts'
import { tagged } from '../platform/logger.ts'

/** Common dependencies of these nouns. */
export interface Media extends ActorDeps {
  store: FileStore
  ffmpeg: Ffmpeg
  pendingFiles: PendingFiles
  placeFiles: PlaceFiles
  leases: Leases
  automaticTags: AutomaticTags
}

/** Warns about missing features of ffmpeg, and about unusable object storage. */
export async function openMedia(
  deps: ActorDeps & { automaticTags: AutomaticTags },
  replacedFfmpeg: Ffmpeg | undefined,
  closers: (() => Promise<void>)[],
): Promise<{ media: Media; remoteCache: FileStore }> {
  const { db, clock, config, logger, registry } = deps
  const { ffmpeg_path, ffprobe_path } = config().vireo.media
  const configured = { ffmpegPath: ffmpeg_path ?? undefined, ffprobePath: ffprobe_path ?? undefined }
  const ffmpeg = replacedFfmpeg ?? (await findFfmpeg(configured))
  for (const warning of ffmpeg.warnings) logger.warn(warning)
  const leases = { owner: leaseOwner(), isGone: isDeadHere }
  const { store, objects } = openStore(config(), leases.owner)
  if (objects) closers.push(() => objects.close())
  // Local files work without it, so the start does not wait.
  void objects?.complaints().then((lines) => {
    for (const line of lines) logger.error(`object storage cannot be used: ${line}`)
  })
  const remoteCache = makeFileStore({ ...cachePlaces(config()), owner: leases.owner })
  registry.periodic('incoming-files', {
    everyMs: () => 60_000,
    everywhere: true,
    run: async () => {
      for (const { sweep } of [store, remoteCache]) {
        await sweep({ olderThanMs: 24 * 3_600_000, now: clock.now(), isGone: leases.isGone })
      }
    },
  })
  // Removes copies in all places.
  const remove: Store['remove'] = async (ref) => void (await Promise.all([store.remove(ref), remoteCache.remove(ref)]))
  const pendingFiles = makePendingFiles({ db, store: { ...store, remove }, clock, logger, leases })
  const placeFiles = makePlaceFiles({ ...deps, store, leases })
  const media: Media = {
    ...deps,
    logger: tagged(logger, 'video'),
    store,
    ffmpeg,
    pendingFiles,
    placeFiles,
    leases,
  }
  return { media, remoteCache }
}
