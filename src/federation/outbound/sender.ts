// Sends an activity of one of our actors: signed once, stored once, on its way to each inbox.

import { type Dispatch, enqueueDocuments, type Recipient } from '../../actors/delivery/index.ts'
import type { Unit } from '../../actors/runtime/index.ts'
import { isFarewell } from '../blocked.ts'
import type { FederationDeps } from '../deps.ts'
import { signDocument } from '../security/index.ts'
import type { JsonObject } from '../wire/index.ts'

export interface Message {
  activity: JsonObject
  senderId: number
  /**
   * Another local actor that passes it on, as it may of what its sender signed: order is kept of what one actor brings alone.
   */
  courierId?: number | undefined
  recipients: Recipient[]
  /**
   * Whether it carries a signature inside, by which others can pass it on and prove what was said. Not what is for its receiver alone,
   * nor what embeds a document of a stranger: canonicalising that may take long. Default true.
   */
  isSignedInside?: boolean
}

export interface Sender {
  /** In the transaction of the event; does nothing when there is nobody to tell. */
  send(unit: Unit, message: Message): Promise<void>
  /** The same of several, in their order. */
  sendAll(unit: Unit, messages: readonly Message[]): Promise<void>
}

export function makeSender(deps: FederationDeps): Sender {
  const { keys, config } = deps
  async function sendAll(unit: Unit, messages: readonly Message[]): Promise<void> {
    if (!config().federation.enabled) return
    const heard = messages.filter(({ recipients }) => recipients.length > 0)
    await enqueueDocuments(unit, await Promise.all(heard.map((message) => dispatchOf(message, unit.now))))
  }

  async function dispatchOf(message: Message, now: Date): Promise<Dispatch> {
    const { activity, senderId, courierId = senderId, recipients, isSignedInside = true } = message
    const signed = isSignedInside ? await signDocument(activity, await keys.forDocuments(senderId), now) : activity
    const document = {
      activityId: String(activity.id),
      type: typeNameOf(activity),
      body: JSON.stringify(signed),
      senderId: courierId,
      toBlocked: isFarewell(activity),
    }
    return { document, recipients }
  }

  return { sendAll, send: (unit, message) => sendAll(unit, [message]) }
}

/** Types that only PeerTube and we read; others may answer 400 to them. */
const OWN_TYPES = new Set(['CacheFile', 'Playlist', 'WatchAction', 'ApproveReply', 'RejectReply', 'View'])

/** By which hosts are remembered that cannot read it: `Create:CacheFile`, also for the Undo of one. */
export function typeNameOf(activity: JsonObject): string {
  const type = String(activity.type)
  const inner = innermostType(activity.object)
  if (inner !== undefined && OWN_TYPES.has(inner)) return `${type}:${inner}`
  return OWN_TYPES.has(type) ? `${type}:` : type
}

function innermostType(object: unknown): string | undefined {
  if (typeof object !== 'object' || object === null || !('type' in object)) return undefined
  const carries = object.type === 'Create' && 'object' in object
  return (carries ? innermostType(object.object) : undefined) ?? String(object.type)
}
