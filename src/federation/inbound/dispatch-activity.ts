// Dispatches a verified activity to its handler, and translates the result for its machine.

import type { StoredActivity, Treatment } from '../../actors/incoming-activity/index.ts'
import type { RemoteHosts } from '../../actors/remote-host/index.ts'
import { DomainError, type ErrorKind } from '../../actors/runtime/index.ts'
import { isBadData } from '../../platform/database/index.ts'
import { parseDocument, readActivity } from '../wire/index.ts'
import { handleAnnounce } from './announce.ts'
import { handleAccept, handleReject } from './answer-follow.ts'
import type { Handler, InboundContext } from './context.ts'
import { handleCreate } from './create.ts'
import { handleDelete } from './delete.ts'
import { handleFlag } from './flag.ts'
import { handleFollow } from './follow.ts'
import { kindOf } from './policy/index.ts'
import { handleDislike, handleLike } from './rate.ts'
import { handleReview } from './review.ts'
import { handleUndo } from './undo.ts'
import { handleUpdate } from './update.ts'
import { handleView } from './view.ts'

export const HANDLERS: Record<string, Handler> = {
  Accept: handleAccept,
  Announce: handleAnnounce,
  ApproveReply: handleReview,
  Create: handleCreate,
  Delete: handleDelete,
  Dislike: handleDislike,
  EmojiReact: handleLike,
  Flag: handleFlag,
  Follow: handleFollow,
  Like: handleLike,
  Reject: handleReject,
  RejectReply: handleReview,
  Undo: handleUndo,
  Update: handleUpdate,
  View: handleView,
}

/** What a refusal means for an activity: most are ignored; some are worth a retry. */
const FATE: Record<ErrorKind, 'ignore' | 'retry'> = {
  invalid: 'ignore',
  unauthenticated: 'ignore',
  forbidden: 'ignore',
  not_found: 'ignore',
  conflict: 'ignore',
  gone: 'ignore',
  too_large: 'ignore',
  unsupported_media_type: 'ignore',
  unprocessable: 'ignore',
  too_many: 'retry',
  busy: 'retry',
  unavailable: 'retry',
}

/** Missing objects: an activity about them is irrelevant. */
const UNKNOWN: ReadonlySet<ErrorKind> = new Set(['not_found', 'gone'])

export function makeDispatchActivity(context: InboundContext & { hosts: RemoteHosts }): (a: StoredActivity) => Promise<Treatment> {
  const { logger, resolveActor, hosts, blocked, policy } = context

  return async (stored) => {
    const log = logger.child({ activity: stored.activityId, type: stored.type })
    try {
      // Both begin with a look-up: in parallel, they take one round trip.
      const heard = hosts.heard(stored.host)
      heard.catch(() => {})
      const hadEffect = await handle(stored)
      await heard
      log.debug('activity handled')
      return { result: 'handled', hadEffect }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (error instanceof DomainError && FATE[error.kind] === 'ignore') {
        log.debug({ reason }, 'activity ignored')
        if (error.kind === 'forbidden') await noteRefused(stored)
        return { result: 'handled', hadEffect: false, refused: !UNKNOWN.has(error.kind) }
      }
      log.warn({ err: error }, 'activity failed')
      if (isBadData(error)) return { result: 'poisoned', reason }
      return { result: 'failed', reason }
    }
  }

  /** For actors that were blocked meanwhile, or activities about others' objects. */
  async function noteRefused(stored: StoredActivity): Promise<void> {
    const { activityId, actorUrl, host, type } = stored
    const about = { kind: kindOf({ type, object: null }), host, actorUrl, activityId }
    const blocks = await blocked.of(actorUrl)
    const { verdict } = policy.judge({ blocked: { ...blocks, isForwarded: true } }, about)
    if (verdict === 'pass') policy.note({ ...about, verdict: 'drop', reason: 'not_permitted' })
  }

  /** False without a handler. */
  async function handle(stored: StoredActivity): Promise<boolean> {
    const handler = Object.hasOwn(HANDLERS, stored.type) ? HANDLERS[stored.type] : undefined
    if (!handler) return false
    const parsed = parseDocument(Buffer.from(stored.body))
    if (!parsed.ok) throw new DomainError('unprocessable', parsed.problem)
    const activity = readActivity(parsed.value)
    if (!activity.ok) throw new DomainError('unprocessable', activity.problem)
    if (activity.value.actor !== stored.actorUrl) throw new DomainError('forbidden', 'The actor is another one.')
    // Refused if it was blocked meanwhile; a follow request of a blocked actor gets a Reject.
    const actor = await resolveActor(stored.actorUrl, { storedIfBlocked: stored.type === 'Follow' })
    // Its address may lead to another actor by now, who signed nothing.
    if (actor.url !== stored.actorUrl) throw new DomainError('forbidden', 'The actor became another one.')
    await handler({ activity: activity.value, document: parsed.value, incomingId: stored.id, saidAt: stored.saidAt, actor }, context)
    return true
  }
}
