// Like and Dislike of a video that we have.

import { DomainError } from '../../actors/runtime/index.ts'
import { readDislike, readLike } from '../wire/index.ts'
import { accountOf, expectRead, type Handler, type InboundContext } from './context.ts'
import { passToGroups } from './forward.ts'

export const handleLike: Handler = async (inbound, context) => {
  const { document, actor } = inbound
  const { id, target } = expectRead(readLike(document))
  const videoId = await videoWith(target, context)
  const rating = { url: id, videoId, accountId: accountOf(actor), type: 'like' } as const
  await context.ratings.receiveRating({ ...rating, passOn: passToGroups(inbound, context) })
}

export const handleDislike: Handler = async (inbound, context) => {
  const { document, actor } = inbound
  const { id, target } = expectRead(readDislike(document))
  const videoId = await videoWith(target, context)
  const rating = { url: id, videoId, accountId: accountOf(actor), type: 'dislike' } as const
  await context.ratings.receiveRating({ ...rating, passOn: passToGroups(inbound, context) })
}

async function videoWith(url: string, { db }: InboundContext): Promise<number> {
  const [video] = await db.query<{ id: number }>(
    "select id from video where url_hash = md5($1)::uuid and url = $1 and state <> 'removed'",
    [url],
  )
  if (!video) throw new DomainError('not_found', `${url} is no video that we have.`)
  return video.id
}
