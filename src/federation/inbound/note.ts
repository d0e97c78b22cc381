// A remote comment: attached to its video or parent. If the parents are unknown, it waits for a job that fetches them, so that later
// activities are not delayed.

import type { StoredActor } from '../../actors/actor/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { isPublic, type NoteDocument, writtenIn } from '../wire/index.ts'
import { accountOf, type Inbound, type InboundContext } from './context.ts'
import { forward } from './forward.ts'
import { aboutActivity } from './policy/index.ts'

export async function receiveNote(note: NoteDocument, inbound: Inbound, context: InboundContext): Promise<void> {
  const { actor, document } = inbound
  refuseOthers(note, actor)
  if (!isPublic(note)) throw new DomainError('forbidden', `${note.id} is not for everybody.`)
  const account = accountOf(actor)
  const place = await context.threads.placeOf(note.inReplyTo)
  if (place) return await attachNote(note, inbound, place, account, context)
  if (context.urls.isLocal(note.inReplyTo)) throw new DomainError('not_found', `${note.inReplyTo} is not here.`)
  await context.waitingComments.hold({ url: note.id, actorId: actor.id, body: JSON.stringify(document) })
}

function refuseOthers({ id, attributedTo }: NoteDocument, actor: StoredActor): void {
  if (!attributedTo.includes(actor.url)) throw new DomainError('forbidden', `${id} is a comment of another author.`)
}

/** Stores a comment whose place is known, and notifies. */
export async function attachNote(
  note: NoteDocument,
  inbound: Inbound,
  place: { videoId: number; parentUrl: string | null },
  accountId: number,
  context: InboundContext,
): Promise<void> {
  const { activity, document } = inbound
  const isSigned = activity.hasSignature || activity.hasProof
  const held = isSigned ? JSON.stringify(document) : null
  // Not forwarded twice if it is repeated; one pending review waits for the owner of the video.
  const passOn = forward(inbound, context)
  const {
    isNew,
    isPendingReview,
    isPendingByTags = false,
    tags = [],
  } = await context.threads.store(note, place, { accountId, activity: held, passOn })
  if (isNew) context.policy.judge({ comment: { isPendingReview, isPendingByTags, tags } }, aboutActivity(activity))
  // On a remote video, the server of the video decides later whether it is approved.
  if (isNew && isPendingReview) await context.waitingComments.askRefresh(place.videoId, { soon: true })
}

/** Edits a comment, or stores one whose first activity is its edit. */
export async function updateNote(note: NoteDocument, inbound: Inbound, context: InboundContext): Promise<void> {
  const { activity, actor, document } = inbound
  const [known] = await context.db.query<{ id: number }>('select id from comment where url_hash = md5($1)::uuid and url = $1', [note.id])
  if (!known) return await receiveNote(note, inbound, context)
  refuseOthers(note, actor)
  const isSigned = activity.hasSignature || activity.hasProof
  await context.reviews.receiveEdit({
    commentId: known.id,
    actorId: actor.id,
    ...writtenIn(note),
    updatedAt: note.updatedAt,
    activity: isSigned ? JSON.stringify(document) : null,
    passOn: forward(inbound, context),
  })
}
