// Undo: an actor withdraws a follow, a like, a dislike, a share or a copy of a video of its own.

import { findActorByUrl } from '../../actors/actor/index.ts'
import { findFollow, isFormerRequest } from '../../actors/follow/index.ts'
import { findRating } from '../../actors/rating/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { readUndo, type UndoDocument } from '../wire/index.ts'
import { withdrawCacheFile } from './cache-file.ts'
import { accountOf, expectRead, type Handler, type Inbound, type InboundContext, refuseForeign } from './context.ts'

type UndoHandler = (undo: UndoDocument, inbound: Inbound, context: InboundContext) => Promise<void>

/** By the type of the undone activity. */
export const withdrawals: ReadonlyMap<string, UndoHandler> = new Map([
  ['Announce', undoShare],
  ['Create', undoCreate],
  ['Dislike', undoRating],
  ['EmojiReact', undoRating],
  ['Follow', undoFollow],
  ['Like', undoRating],
])

export const handleUndo: Handler = async (inbound, context) => {
  const read = expectRead(readUndo(inbound.document))
  const undo = { ...read, undoneTarget: read.undoneTarget && (await context.objectAt(read.undoneTarget)) }
  if (undo.undoneActor !== null && undo.undoneActor !== inbound.actor.url) {
    throw new DomainError('forbidden', 'Only the actor of an activity can undo it.')
  }
  const { id, type } = undo.undone
  if (id !== null) refuseForeign(id, inbound.actor)
  await (type === null ? undoById : withdrawals.get(type))?.(undo, inbound, context)
}

async function undoFollow(undo: UndoDocument, { actor, incomingId }: Inbound, { db, follows }: InboundContext): Promise<void> {
  const byId = undo.undone.id === null ? undefined : await findFollow(db, { url: undo.undone.id })
  const target = undo.undoneTarget === null ? undefined : await localActor(undo.undoneTarget, db)
  const follow = byId ?? (target === undefined ? undefined : await findFollow(db, { followerId: actor.id, targetId: target }))
  if (!follow) return
  if (follow.follower_id !== actor.id) throw new DomainError('forbidden', 'This follow is of another actor.')
  const { id } = undo.undone
  // A late Undo of an earlier follow does not end the one that was requested afterwards.
  if (!byId && id !== null && (await isFormerRequest(db, { followId: follow.id, url: id, before: incomingId }))) return
  await follows.withdraw(follow.id)
}

/**
 * A late Undo of a like does not remove the dislike that replaced it. An Undo with a stated time is not late: then the dislike is older
 * than the like, which has not been handled yet.
 */
async function undoRating(undo: UndoDocument, { actor, saidAt }: Inbound, { db, ratings }: InboundContext): Promise<void> {
  const videoId = undo.undoneTarget === null ? undefined : await videoWith(undo.undoneTarget, db)
  if (videoId === undefined) return
  const accountId = accountOf(actor)
  const given = await findRating(db.query, videoId, accountId)
  const undone = undo.undone.type === 'Dislike' ? 'dislike' : 'like'
  const isLastWord = saidAt !== null
  if (given === undone || isLastWord) await ratings.removeReceivedRating({ videoId, accountId })
}

async function undoShare(undo: UndoDocument, { actor }: Inbound, { db, shares }: InboundContext): Promise<void> {
  const video = undo.undoneTarget === null ? undefined : await videoWith(undo.undoneTarget, db)
  if (video !== undefined) await shares.removeShare({ videoId: video, actorId: actor.id })
}

/** For a copy only: other created objects are deleted, not undone. */
async function undoCreate(undo: UndoDocument, inbound: Inbound, context: InboundContext): Promise<void> {
  if (undo.undoneTarget === null) return
  refuseForeign(undo.undoneTarget, inbound.actor)
  await withdrawCacheFile(undo.undoneTarget, inbound, context)
}

/** Some software sends only the id of the activity: undoes whatever of the actor's has this id. */
async function undoById(undo: UndoDocument, inbound: Inbound, context: InboundContext): Promise<void> {
  const { actor } = inbound
  const { db, ratings, shares } = context
  const id = undo.undone.id
  if (id === null) return
  if (await findFollow(db, { url: id })) return await undoFollow(undo, inbound, context)
  const [rating] = await db.query<{ video_id: number; account_id: number }>(
    'select video_id, account_id from rating where url_hash = md5($1)::uuid and url = $1',
    [id],
  )
  if (rating && rating.account_id === actor.accountId) {
    return await ratings.removeReceivedRating({ videoId: rating.video_id, accountId: rating.account_id })
  }
  const [share] = await db.query<{ video_id: number; actor_id: number }>(
    'select video_id, actor_id from share where url_hash = md5($1)::uuid and url = $1',
    [id],
  )
  if (share && share.actor_id === actor.id) {
    return await shares.removeShare({ videoId: share.video_id, actorId: share.actor_id })
  }
  // The Create of a copy has its address with a suffix.
  await withdrawCacheFile(id.replace(/\/activity$/, ''), inbound, context)
}

async function localActor(url: string, db: InboundContext['db']): Promise<number | undefined> {
  const found = await findActorByUrl(db.query, url)
  return found?.isLocal ? found.id : undefined
}

async function videoWith(url: string, db: InboundContext['db']): Promise<number | undefined> {
  const [row] = await db.query<{ id: number }>('select id from video where url_hash = md5($1)::uuid and url = $1', [url])
  return row?.id
}
