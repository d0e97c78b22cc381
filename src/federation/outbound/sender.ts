// Sends an activity of a local actor: signed once, stored once, queued for each inbox.

import { type Dispatch, enqueueDocuments, type Recipient } from '../../actors/delivery/index.ts'
import type { Unit } from '../../actors/runtime/index.ts'
import { isFarewell } from '../blocked.ts'
import type { FederationDeps } from '../deps.ts'
import { signDocument } from '../security/index.ts'
import type { JsonObject } from '../wire/index.ts'

export interface Message {
  activity: JsonObject
  senderId: number
  /** Another local actor that delivers what its sender signed: order is guaranteed per delivering actor. */
  courierId?: number | undefined
  recipients: Recipient[]
  /**
   * True if it carries an inner signature, by which others can forward and prove it. Not for activities to a single recipient, nor for
   * those that embed a remote document: canonicalising that may be slow. Default true.
   */
  isSignedInside?: boolean
}

export interface Sender {
  /** Runs in the transaction of the event; does nothing without recipients. */
  send(unit: Unit, message: Message): Promise<void>
  /** The same for several, in their order. */
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

/** Types that only PeerTube and Vireo read; others may respond 400. */
const OWN_TYPES = new Set(['CacheFile', 'Playlist', 'WatchAction', 'ApproveReply', 'RejectReply', 'View'])

/** The key under which hosts are marked that cannot read it: `Create:CacheFile`, also for its Undo. */
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
