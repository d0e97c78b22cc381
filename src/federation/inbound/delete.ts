// Delete: an actor removes itself, a video or playlist of its server, or a comment.

import { awaitSavers } from '../../actors/incoming-activity/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { readDelete } from '../wire/index.ts'
import { expectRead, type Handler, refuseForeign } from './context.ts'
import { forward } from './forward.ts'
import { removePlaylist } from './playlist.ts'
import { owns } from './video.ts'

export const handleDelete: Handler = async (inbound, context) => {
  const { document, actor } = inbound
  const { target } = expectRead(readDelete(document))
  if (target === actor.url) return await context.remoteActors.remove(actor.id)
  await awaitSavers(context.db.query, target)
  const video = await context.remoteVideos.find(target)
  if (video) {
    refuseForeign(target, actor)
    if (!(await owns(actor.id, video.channelId, context.db))) {
      throw new DomainError('forbidden', `${actor.url} does not own ${target}.`)
    }
    return await context.remoteVideos.remove(video.id)
  }
  await context.waitingComments.withdraw({ url: target, actorId: actor.id })
  if (await removePlaylist(target, actor, context)) return
  const removed = await context.comments.removeReceived({ url: target, actorId: actor.id })
  if (removed) await forward(inbound, removed.videoId, context)
}
