// Likes and dislikes: the server of a remote video is notified; followers of a local one get the new counts by an Update.

import { findActorById } from '../../actors/actor/index.ts'
import { inboxOf } from '../../actors/delivery/index.ts'
import type { Unit } from '../../actors/runtime/index.ts'
import { findFederatedVideo } from '../../actors/video/index.ts'
import type { FederationDeps } from '../deps.ts'
import { publicAudience, rateActivity } from '../documents/index.ts'
import { buildUndo } from '../wire/index.ts'
import { isAnnounced } from './audience.ts'
import { announceToGroups } from './groups.ts'
import type { Sender } from './sender.ts'

/** Counts of one video are sent at most once in this time, however many ratings arrive. */
const COUNTS_EVERY_MS = 5000

export function sendRatings(deps: FederationDeps, sender: Sender): void {
  const { registry, urls, config } = deps
  const { send } = sender
  registry.on('RatingSet', 'federation', async ({ ratingId, videoId }, unit) => {
    const video = await findFederatedVideo(unit.query, videoId)
    if (!video) return
    if (!video.remote) announceCounts(unit, videoId)
    const [rating] = await unit.query<{ url: string; type: 'like' | 'dislike'; actorId: number; actor: string }>(
      `select r.url, r.type, x.id as "actorId", x.url as actor from rating r
       join account a on a.id = r.account_id join actor x on x.id = a.actor_id where r.id = $1 and x.host_id is null`,
      [ratingId],
    )
    if (!rating) return
    const { url: id, type, actor: actorUrl, actorId } = rating
    const activity = rateActivity(urls, { id, type, actorUrl, videoUrl: video.url })
    if (!video.remote) {
      if (isAnnounced(video, config())) await announceToGroups(deps, sender, unit, { videoId, activity })
      return
    }
    const recipients = await inboxOf(unit.query, video.accountActorId, { personal: false })
    await send(unit, { activity, senderId: actorId, recipients })
  })

  registry.on('RatingRemoved', 'federation', async ({ url, type, actorId, videoId }, unit) => {
    const video = await findFederatedVideo(unit.query, videoId)
    if (!video) return
    if (!video.remote) announceCounts(unit, videoId)
    const actor = await findActorById(unit.query, actorId)
    if (!actor?.isLocal) return
    const undone = rateActivity(urls, { id: url, type, actorUrl: actor.url, videoUrl: video.url })
    const activity = buildUndo({ id: urls.undoOf(url), actor: actor.url, undone, ...publicAudience(urls, actor.url) })
    if (!video.remote) {
      if (isAnnounced(video, config())) await announceToGroups(deps, sender, unit, { videoId, activity })
      return
    }
    const recipients = await inboxOf(unit.query, video.accountActorId, { personal: false })
    await send(unit, { activity, senderId: actorId, recipients })
  })
}

function announceCounts(unit: Unit, videoId: number): void {
  unit.enqueue({
    type: 'federate-video',
    data: { videoId },
    dedupeKey: `federate-video-${videoId}`,
    delayMs: COUNTS_EVERY_MS,
  })
}
