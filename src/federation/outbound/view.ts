// Viewers and views, sent by the instance: of local videos to their followers, of remote ones to their server. One message stands for all
// viewers of a video, under a stable address, so that it replaces the previous one.

import { inboxOf } from '../../actors/delivery/index.ts'
import type { Unit } from '../../actors/runtime/index.ts'
import { type FederatedVideo, findFederatedVideo } from '../../actors/video/index.ts'
import type { FederationDeps } from '../deps.ts'
import { createWatchActivity, watchActionDocument } from '../documents/index.ts'
import { AS_PUBLIC, type Audience, buildView } from '../wire/index.ts'
import { audienceOf, isAnnounced } from './audience.ts'
import type { Sender } from './sender.ts'

export function sendViews(deps: FederationDeps & { instanceActorId: () => Promise<number> }, { send }: Sender): void {
  const { registry, urls, config, instanceActorId } = deps

  registry.on('ViewersCounted', 'federation', async ({ videoId, viewers, expiresAt }, unit) => {
    const video = await findFederatedVideo(unit.query, videoId)
    if (!video || !isAnnounced(video, config())) return
    await send(unit, {
      activity: buildView({
        id: urls.view(urls.instance, videoId, `viewers-${video.uuid}`),
        actor: urls.instance,
        target: video.url,
        expiresAt: new Date(expiresAt),
        // A server that does not know counters counts any message as one viewer.
        count: !video.remote || viewers > 1 ? viewers : null,
        ...audience(video),
      }),
      senderId: await instanceActorId(),
      recipients: await recipientsOf(unit, video),
    })
  })

  registry.on('ViewsCounted', 'federation', async ({ videoId, views, at }, unit) => {
    const video = await findFederatedVideo(unit.query, videoId)
    // Views of local videos are in the Update of the video.
    if (!video?.remote || !isAnnounced(video, config())) return
    await send(unit, {
      activity: buildView({
        id: urls.view(urls.instance, videoId, `views-${at}-${video.uuid}`),
        actor: urls.instance,
        target: video.url,
        expiresAt: null,
        count: views > 1 ? views : null,
        ...audience(video),
      }),
      senderId: await instanceActorId(),
      recipients: await recipientsOf(unit, video),
    })
  })

  registry.on('WatchEnded', 'federation', async ({ watchId, videoId }, unit) => {
    const video = await findFederatedVideo(unit.query, videoId)
    if (!video?.remote || !isAnnounced(video, config())) return
    const found = await watchActionDocument(unit.query, { id: watchId })
    if (!found) return
    await send(unit, {
      activity: createWatchActivity(urls, found),
      senderId: await instanceActorId(),
      recipients: await recipientsOf(unit, video),
    })
  })

  function audience({ remote, accountUrl, channelUrl }: FederatedVideo): Audience {
    if (remote) return { to: [accountUrl], cc: [] }
    const followers = [channelUrl, urls.instance].map((actor) => urls.actorCollection(actor, 'followers'))
    return { to: [AS_PUBLIC, ...followers], cc: [] }
  }

  async function recipientsOf(unit: Unit, video: FederatedVideo) {
    if (video.remote) return await inboxOf(unit.query, video.accountActorId, { personal: false })
    return await audienceOf(unit.query, [video.accountActorId, video.channelActorId, await instanceActorId()], video.id)
  }
}
