// An activity that a group forwards (FEP-1b12): the group vouches for nothing. It is trusted with a proof of its own actor, or if the
// server of that actor confirms it.

import { DomainError } from '../../actors/runtime/index.ts'
import { isSameOrigin } from '../security/index.ts'
import { type ActivityDocument, type JsonObject, type ObjectPart, readActivity, readNote } from '../wire/index.ts'
import { expectRead, type InboundContext } from './context.ts'
import { verifyEmbedded } from './embedded-signature.ts'
import { saidAt, subjectOf } from './order.ts'
import { aboutActivity } from './policy/index.ts'

/** Types that groups forward about known videos and comments; other types are ignored. */
const FORWARDABLE = ['Create', 'Update', 'Delete', 'Like', 'Dislike', 'EmojiReact', 'Undo']

export const isForwardable = (target: Pick<ObjectPart, 'type'>): boolean => FORWARDABLE.includes(target.type ?? '')

/** Stores the inner activity as one of its own actor: counted once, and ordered with that actor's other activities. */
export async function handleForwarded(target: ObjectPart, group: string, context: InboundContext): Promise<void> {
  if (target.document === null) return
  const claimed = expectRead(readActivity(target.document))
  if (context.urls.isLocal(claimed.actor) || !isSameOrigin(claimed.id, claimed.actor)) return
  if (!(await concernsUs(claimed, context))) return
  const blocks = await context.blocked.of(claimed.actor)
  const { verdict } = context.policy.judge({ blocked: { ...blocks, isForwarded: true } }, aboutActivity(claimed))
  if (verdict !== 'pass') return
  // It counts once, so that a known one needs neither trust nor a fetch.
  if (await context.hasArrived({ activityId: claimed.id, actorUrl: claimed.actor })) return
  const { document, saidAt: time } = await believed(target.document, claimed, group, context)
  const activity = expectRead(readActivity(document))
  if (activity.actor !== claimed.actor || activity.id !== claimed.id) {
    throw new DomainError('forbidden', 'The activity is another one.')
  }
  if (!isForwardable(activity)) return
  await context.arrive({
    activityId: activity.id,
    type: activity.type,
    actorUrl: activity.actor,
    host: new URL(activity.actor).host,
    body: JSON.stringify(document),
    proof: null,
    saidAt: time,
    subject: subjectOf(activity),
    once: true,
  })
}

/** Nothing is fetched for activities about unknown objects. */
async function concernsUs({ type, object }: ActivityDocument, context: InboundContext): Promise<boolean> {
  if (object?.id == null) return false
  if (type === 'Undo') return await undoConcernsUs(object, context)
  if (type === 'Create') {
    const note = object.document === null ? undefined : readNote(object.document)
    return note?.ok === true && (await context.threads.placeOf(note.value.inReplyTo)) !== undefined
  }
  return await isThing(object.id, context)
}

/** For an Undo: true if it embeds an activity about a known object, or names a known object or activity. */
async function undoConcernsUs({ id, document }: ObjectPart, context: InboundContext): Promise<boolean> {
  const undone = document === null ? undefined : readActivity(document)
  if (undone?.ok === true) return undone.value.object?.id != null && (await isThing(undone.value.object.id, context))
  const [known] = await context.db.query(
    `select 1 from rating where url_hash = md5($1)::uuid and url = $1
     union all select 1 from share where url_hash = md5($1)::uuid and url = $1 limit 1`,
    [id],
  )
  return known !== undefined
}

/** True for a known video or comment. */
async function isThing(url: string, { db, objectAt }: InboundContext): Promise<boolean> {
  const [known] = await db.query(
    `select 1 from video where url_hash = md5($1)::uuid and url = $1
     union all select 1 from comment where url_hash = md5($1)::uuid and url = $1 limit 1`,
    [await objectAt(url)],
  )
  return known !== undefined
}

/** Trusts the author's signature, or fetches the activity from the author's server, within the limits of the group. */
async function believed(
  document: JsonObject,
  claimed: ActivityDocument,
  group: string,
  { keys, checks, clock, config, remoteActors, forOthers, resolveActor, fetchDocument }: InboundContext,
): Promise<{ document: JsonObject; saidAt: Date | null }> {
  if (!(await remoteActors.find(claimed.actor))) {
    await forOthers.fetch(group, claimed.actor, () => resolveActor(claimed.actor))
  }
  const now = clock.now()
  if (claimed.hasSignature || claimed.hasProof) {
    forOthers.admitProof(group)
    const keepIdsMs = config().vireo.federation.inbox.keep_ids
    const verdict = await verifyEmbedded(document, { findKey: keys.find, checks, now, keepIdsMs })
    if (verdict.ok && verdict.owner === claimed.actor) return verdict
  }
  const fetched = (await forOthers.fetch(group, claimed.id, () => fetchDocument(claimed.id))).document
  return { document: fetched, saidAt: saidAt(fetched, now) }
}
