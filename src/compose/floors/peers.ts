// Other servers: what is fetched from them and mirrored, lives and imports, and federation.

import { makeRemoteActors } from '../../actors/actor/index.ts'
import { makeChannelSyncs, runChannelSyncs } from '../../actors/channel-sync/index.ts'
import { makeHistoryWalks } from '../../actors/follow/index.ts'
import { lookForNewVersions } from '../../actors/instance/index.ts'
import { makeInteractionCleaning } from '../../actors/interaction/index.ts'
import {
  encodeRenditions,
  makeLiveSessions,
  makeLives,
  makeRemoteRenditions,
  saveReplays,
  superviseLiveSessions,
} from '../../actors/live/index.ts'
import { downloadRedundancies, makeRedundancies, mirrorByStrategy } from '../../actors/redundancy/index.ts'
import { makeShares } from '../../actors/share/index.ts'
import { makeAwaitedVideos, makeRemoteVideos, quotaLeft } from '../../actors/video/index.ts'
import { makeVideoImports, runImports } from '../../actors/video-import/index.ts'
import { makeFederationPart } from '../../federation/index.ts'
import { tagged } from '../../platform/logger.ts'
import { VERSION } from '../../version.ts'
import type { Ground } from '../foundation.ts'
import { makeImportDownloads } from '../import-downloads.ts'
import type { People } from './people.ts'
import type { PluginParts } from './plugins.ts'
import type { Videos } from './videos.ts'

export type Peers = ReturnType<typeof makePeers>

export function makePeers(below: Ground & People & Videos & PluginParts) {
  const { automaticTags, captions, closers, createVideo, deps, ffmpeg, http, inspectFile, instanceActorId, limits, media, prefix } = below
  const { config, logger } = deps
  lookForNewVersions({ ...deps, http, version: VERSION, instanceActorId })
  const redundancies = makeRedundancies({ ...deps, instanceActorId })
  downloadRedundancies({ ...media, http, redundancies, instanceActorId })
  mirrorByStrategy({ ...deps, redundancies, instanceActorId })
  const awaitedVideos = makeAwaitedVideos({ ...media, inspectFile })
  const { downloads, mayImportFrom, close } = makeImportDownloads({ config, logger, ffmpeg, userAgent: below.userAgent })
  closers.push(close)
  const lives = { ...makeLives({ ...media, awaitedVideos, createVideo }), sessions: makeLiveSessions({ ...deps, quotaLeft }) }
  superviseLiveSessions(media)
  encodeRenditions(media)
  makeRemoteRenditions({ ...media, works: below.works })
  saveReplays({ ...media, inspectFile, createVideo, awaitedVideos })
  const imports = { ...media, awaitedVideos, createVideo, inspectFile, captions, downloads, mayImportFrom }
  const videoImports = makeVideoImports(imports)
  runImports(imports)
  runChannelSyncs({ ...media, downloads, videoImports })
  const remoteActors = makeRemoteActors(deps)
  const remoteVideos = makeRemoteVideos({ ...deps, automaticTags })
  const shares = makeShares(deps)
  const federation = makeFederationPart({
    ...below,
    deps: { ...deps, logger: tagged(logger, 'ap') },
    remoteActors,
    remoteVideos,
    histories: makeHistoryWalks(deps),
    cleaning: makeInteractionCleaning(deps),
    shares,
    redundancies,
    redis: limits && { connection: limits, prefix: `${prefix}:kv:` },
    software: { name: 'vireo', version: VERSION },
  })
  closers.push(() => federation.close())
  return {
    channelSyncs: makeChannelSyncs({ ...deps, checkQuota: createVideo.checkQuota }),
    federation,
    lives,
    redundancies,
    remoteActors,
    remoteVideos,
    shares,
    videoImports,
  }
}
