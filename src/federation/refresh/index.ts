// Jobs that refresh stale data: remote actors and videos that are in use, the follower counts of those actors, and the software of every
// server.

import type { RemoteActors } from '../../actors/actor/index.ts'
import type { RemoteVideos } from '../../actors/video/index.ts'
import type { FederationDeps } from '../deps.ts'
import type { ResolveActor } from '../fetch/actors.ts'
import type { Discovery } from '../fetch/discovery.ts'
import type { FetchDocument } from '../fetch/documents.ts'
import type { VideoFetcher } from '../fetch/videos.ts'
import { makeRefreshActor } from './actors.ts'
import { countRemoteFollowers } from './followers.ts'
import { queueSoftwareChecks } from './hosts.ts'
import { makeRefreshVideo } from './videos.ts'

export function refreshStale(
  deps: FederationDeps & {
    fetchDocument: FetchDocument
    resolveActor: ResolveActor
    remoteActors: RemoteActors
    videos: VideoFetcher
    remoteVideos: RemoteVideos
    discovery: Discovery
  },
): void {
  const refreshVideo = makeRefreshVideo(deps)
  const refreshActor = makeRefreshActor(deps)
  deps.registry.job('activitypub-refresher', {
    queue: 'io',
    run: ({ data }) => (data.videoId === undefined ? refreshActor(Number(data.actorId)) : refreshVideo(Number(data.videoId))),
  })
  countRemoteFollowers(deps)
  queueSoftwareChecks(deps)
}
