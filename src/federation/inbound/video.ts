// Activities about a video of the sender's server.

import type { StoredActor } from '../../actors/actor/index.ts'
import { type JsonObject, readVideo } from '../wire/index.ts'
import { expectRead, type InboundContext, refuseForeign } from './context.ts'

/** Stores the video as its owner describes it. An activity of another actor of the server only causes a fetch of the video. */
export async function storeRemoteVideo(document: JsonObject, actor: StoredActor, context: InboundContext): Promise<void> {
  const video = expectRead(readVideo(document))
  refuseForeign(video.id, actor)
  const isNamed = video.attributedTo.some(({ id }) => id === actor.url) || video.audience.includes(actor.url)
  if (isNamed && (await isOwner(actor, video.id, context))) {
    const owners = await context.resolveOwners(video)
    if (owners.channel.url === actor.url || owners.accountUrl === actor.url) {
      return void (await context.videos.save(document, { owners }))
    }
  }
  const fetched = await context.fetchDocument(video.id)
  await context.videos.save(fetched.document, { askedAt: fetched.askedAt })
}

/** True if the actor owns the stored video: by its channel, or the account of that. Only the owner can send a new video. */
async function isOwner(actor: StoredActor, videoUrl: string, { db, remoteVideos }: InboundContext): Promise<boolean> {
  const known = await remoteVideos.find(videoUrl)
  return known === undefined || (await owns(actor.id, known.channelId, db))
}

/** The channel itself, or the account that it belongs to. */
export async function owns(actorId: number, channelId: number, db: InboundContext['db']): Promise<boolean> {
  const [row] = await db.query<{ owns: boolean }>(
    `select c.actor_id = $1 or a.actor_id = $1 as owns from channel c join account a on a.id = c.account_id where c.id = $2`,
    [actorId, channelId],
  )
  return row?.owns ?? false
}
