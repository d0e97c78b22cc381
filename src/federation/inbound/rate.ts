// Like and Dislike of a known video.

import { readDislike, readLike } from '../wire/index.ts'
import { accountOf, expectRead, type Handler } from './context.ts'
import { passToGroups } from './forward.ts'
import { knownVideo } from './known-video.ts'

export const handleLike: Handler = async (inbound, context) => {
  const { document, actor } = inbound
  const { id, target } = expectRead(readLike(document))
  const { id: videoId } = await knownVideo(target, context)
  const rating = { url: id, videoId, accountId: accountOf(actor), type: 'like' } as const
  await context.ratings.receiveRating({ ...rating, passOn: passToGroups(inbound, context) })
}

export const handleDislike: Handler = async (inbound, context) => {
  const { document, actor } = inbound
  const { id, target } = expectRead(readDislike(document))
  const { id: videoId } = await knownVideo(target, context)
  const rating = { url: id, videoId, accountId: accountOf(actor), type: 'dislike' } as const
  await context.ratings.receiveRating({ ...rating, passOn: passToGroups(inbound, context) })
}
