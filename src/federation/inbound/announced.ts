// An activity that a group passes on (FEP-1b12): the group vouches for nothing. Believed is what carries the proof of its own
// actor, or what the server of that actor says when it is asked.

import { DomainError } from '../../actors/runtime/index.ts'
import { isSameOrigin, verifyDocument } from '../security/index.ts'
import { type ActivityDocument, type JsonObject, type ObjectPart, readActivity, readNote } from '../wire/index.ts'
import { expectRead, type Handler, type InboundContext } from './context.ts'

/** What groups pass on of videos and comments that we have; the rest of what happens in them is not for us. */
const PASSED_ON = ['Create', 'Update', 'Delete', 'Like', 'Dislike', 'EmojiReact', 'Undo']

export const isPassedOn = (target: Pick<ObjectPart, 'type'>): boolean => PASSED_ON.includes(target.type ?? '')

/** Treats the inner activity as its own actor's. `handlers` are those of all types. */
export async function handleAnnounced(
  target: ObjectPart,
  context: InboundContext,
  handlers: Record<string, Handler>,
): Promise<void> {
  if (target.document === null) return
  const claimed = expectRead(readActivity(target.document))
  if (context.urls.isOurs(claimed.actor) || !isSameOrigin(claimed.id, claimed.actor)) return
  if (!(await concernsUs(claimed, context))) return
  const document = await believed(target.document, claimed, context)
  const activity = expectRead(readActivity(document))
  if (activity.actor !== claimed.actor) throw new DomainError('forbidden', 'The activity is of another actor.')
  const actor = await context.resolveActor(activity.actor)
  if (actor.url !== activity.actor) throw new DomainError('forbidden', 'The actor became another one.')
  if (isPassedOn(activity)) await handlers[activity.type]?.({ activity, document, actor }, context)
}

/** Nothing is fetched for what is about things that we do not have. */
async function concernsUs({ type, object }: ActivityDocument, { db, threads }: InboundContext): Promise<boolean> {
  if (object?.id == null) return false
  if (type === 'Undo') {
    const undone = object.document === null ? undefined : readActivity(object.document)
    return undone?.ok === true && undone.value.object?.id != null
  }
  if (type === 'Create') {
    const note = object.document === null ? undefined : readNote(object.document)
    return note?.ok === true && (await threads.placeOf(note.value.inReplyTo)) !== undefined
  }
  const [known] = await db.query(
    `select 1 from video where url_hash = md5($1)::uuid and url = $1
     union all select 1 from comment where url_hash = md5($1)::uuid and url = $1 limit 1`,
    [object.id],
  )
  return known !== undefined
}

async function believed(
  document: JsonObject,
  claimed: ActivityDocument,
  { keys, clock, resolveActor, fetchDocument }: InboundContext,
): Promise<JsonObject> {
  if (claimed.hasSignature || claimed.hasProof) {
    await resolveActor(claimed.actor)
    const verdict = await verifyDocument(document, { findKey: keys.find, now: clock.now() })
    if (verdict.ok && verdict.owner === claimed.actor) return verdict.document
  }
  return (await fetchDocument(claimed.id)).document
}
