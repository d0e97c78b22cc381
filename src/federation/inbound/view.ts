// View: anybody may report views of a local video; only its own server those of a remote video. This server forwards its own totals from
// time to time, never the message itself.

import { DomainError } from '../../actors/runtime/index.ts'
import type { Section } from '../../actors/view/index.ts'
import { type JsonObject, readView, readWatchAction } from '../wire/index.ts'
import { expectRead, type Handler, type Inbound, type InboundContext, refuseForeign } from './context.ts'
import { knownVideo } from './known-video.ts'

export const handleView: Handler = async ({ document, incomingId, actor }, context) => {
  const { id, target, expiresAt, count } = expectRead(readView(document))
  refuseForeign(id, actor)
  const video = await knownVideo(target, context)
  if (video.remote) refuseForeign(target, actor)
  if (actor.hostId === null) return
  const origin = { videoId: video.id, hostId: actor.hostId }
  if (expiresAt === null) await context.views.receiveViews({ ...origin, views: count ?? 1, incomingId })
  else await context.views.receiveViewers({ ...origin, viewer: id, viewers: count ?? 1, expiresAt })
}

/** A watch action of a remote viewer, for local videos only. */
export async function receiveWatchAction(document: JsonObject, { actor }: Inbound, context: InboundContext): Promise<void> {
  const { id, uuid, target, startedAt, endedAt, sections, country, region } = expectRead(readWatchAction(document))
  const video = await knownVideo(target, context)
  if (video.remote) throw new DomainError('forbidden', `${target} is of another server.`)
  if (actor.hostId === null) return
  await context.views.receiveWatch({
    videoId: video.id,
    hostId: actor.hostId,
    url: id,
    uuid,
    startedAt,
    endedAt,
    sections: sections.map(({ startTimestamp, endTimestamp }): Section => [startTimestamp, endTimestamp]),
    country,
    subdivision: region,
  })
}
