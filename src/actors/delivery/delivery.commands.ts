// The lane of a host: sends what waits for it, in order for each actor, at most a few actors at once. A host that
// fails is left alone for a time that doubles; while it fails one delivery tries its luck for all.

import {
  type DeliveryContext,
  type DeliveryEvent,
  type DeliveryState,
  deliveryMachine,
  initialDelivery,
} from '../../state-machines/delivery.ts'
import { step } from '../../state-machines/step.ts'
import { type RemoteHosts, type SignatureProfile, signatureProfiles } from '../remote-host/index.ts'
import type { ActorDeps } from '../runtime/index.ts'
import { DELIVERY_LANE } from './enqueue.ts'

export interface WaitingDelivery {
  id: number
  /** Row id of the actor of ours that sends. */
  actorId: number
  inboxUrl: string
  activityId: string
  type: string
  /** The signed document. */
  body: string
}

/** What came of one try. */
export interface SendOutcome {
  answer: 'sent' | 'failed' | 'unauthorized' | 'not-found' | 'gone' | 'unsupported' | 'blocked'
  /** Milliseconds that the host asked to be left alone, when it did. */
  retryAfter?: number
  /** For the admin; null when it was sent. */
  error: string | null
}

/** Signs and posts one delivery; never throws. */
export type Send = (delivery: WaitingDelivery, profile: SignatureProfile, signal: AbortSignal) => Promise<SendOutcome>

interface HeadRow extends WaitingDelivery {
  context: Partial<DeliveryContext>
}

const CLEAN_UP_EVERY_MS = 600_000
const UNUSED_DOCUMENT_MS = 3_600_000

export function registerDeliveries(deps: ActorDeps & { hosts: RemoteHosts; send: Send }): void {
  const { db, registry, clock, config, logger, hosts, send } = deps
  const settings = () => config().vireo.federation.delivery

  registry.lane(DELIVERY_LANE, {
    queue: 'delivery',
    nextDueSql: `select coalesce(h.due_at, now()) from remote_host h where h.id = lane.key::int and h.state <> 'dormant'
      and exists (select 1 from delivery d where d.host_id = h.id and d.state = 'waiting')`,
    async drain(key, { signal }) {
      const hostId = Number(key)
      while (!signal.aborted) {
        const host = await hosts.find(hostId)
        if (!host || host.state === 'dormant') return null
        if (host.dueAt !== null && host.dueAt > clock.now()) return host.dueAt
        const heads = await headsOf(hostId, host.state === 'failing' ? 1 : settings().actors_in_flight_per_host)
        if (heads.length === 0) return null
        const outcomes = await Promise.all(heads.map((head) => deliver(hostId, host.signatureProfile, head, signal)))
        if (!signal.aborted) await tellHost(hostId, outcomes)
      }
      return null
    },
  })

  registry.periodic('drop-old-deliveries', {
    everyMs: () => CLEAN_UP_EVERY_MS,
    async run() {
      const now = clock.now().getTime()
      await db.query('delete from delivery where created_at < $1', [new Date(now - settings().drop_after)])
      await db.query(
        'delete from document d where created_at < $1 and not exists (select 1 from delivery where document_id = d.id)',
        [new Date(now - UNUSED_DOCUMENT_MS)],
      )
    },
  })

  /**
   * The oldest waiting delivery of each actor; actors without backlog first, else the oldest first. Goes through the index
   * from actor to actor, since a host that was away for days has a long backlog and is asked of often.
   */
  const headsOf = (hostId: number, atOnce: number): Promise<HeadRow[]> =>
    db.query<HeadRow>(
      `with recursive actors as (
         select min(actor_id) as id from delivery where host_id = $1 and state = 'waiting'
         union all
         select (select min(d.actor_id) from delivery d
                 where d.host_id = $1 and d.state = 'waiting' and d.actor_id > actors.id)
         from actors where actors.id is not null
       ), heads as (
         select first.id, exists (
             select 1 from delivery d
             where d.host_id = $1 and d.state = 'waiting' and d.actor_id = actors.id and d.id > first.id
           ) as has_backlog
         from actors cross join lateral (
           select min(d.id) as id from delivery d
           where d.host_id = $1 and d.state = 'waiting' and d.actor_id = actors.id
         ) as first
         where actors.id is not null
         order by has_backlog, first.id limit $2
       )
       select d.id, d.actor_id as "actorId", d.inbox_url as "inboxUrl", d.context, doc.activity_id as "activityId",
         doc.type, doc.body
       from heads join delivery d on d.id = heads.id join document doc on doc.id = d.document_id
       order by heads.has_backlog, d.id`,
      [hostId, atOnce],
    )

  async function deliver(
    hostId: number,
    preferred: SignatureProfile,
    head: HeadRow,
    signal: AbortSignal,
  ): Promise<SendOutcome> {
    const context: DeliveryContext = { ...initialDelivery.context, ...head.context }
    const profile = context.profile === 0 ? preferred : signatureProfiles.find((other) => other !== preferred)
    const outcome = await send(head, profile ?? preferred, signal)
    if (signal.aborted && outcome.answer === 'failed') return outcome
    const next = step(deliveryMachine, { state: 'waiting' as DeliveryState, context }, eventOf(outcome))
    logger.debug({ inbox: head.inboxUrl, activity: head.activityId, answer: outcome.answer }, 'delivery')

    if (next.state === 'sent') {
      if (profile !== preferred && profile) await hosts.preferProfile(hostId, profile)
      await removeSent(head.id)
      return outcome
    }
    // A type of PeerTube's own that the host cannot read is not sent to it again.
    if (next.context.reason === 'unsupported' && head.type.includes(':')) await hosts.noteUnsupported(hostId, head.type)
    await db.query('update delivery set state = $2, context = $3, error = $4 where id = $1', [
      head.id,
      next.state,
      JSON.stringify(next.context),
      outcome.error,
    ])
    if (next.context.reason === 'inbox-gone') await parkInbox(head.inboxUrl)
    return outcome
  }

  function eventOf({ answer }: SendOutcome): DeliveryEvent {
    switch (answer) {
      case 'sent':
        return { type: 'SENT' }
      case 'failed':
        return { type: 'FAILED' }
      case 'unauthorized':
        return { type: 'UNAUTHORIZED' }
      case 'not-found':
        return { type: 'NOT_FOUND', settings: settings() }
      case 'gone':
        return { type: 'GONE' }
      case 'unsupported':
        return { type: 'UNSUPPORTED' }
      case 'blocked':
        return { type: 'BLOCKED' }
    }
  }

  /** One event for all that was tried at once: a host that failed one of them failed. */
  async function tellHost(hostId: number, outcomes: SendOutcome[]): Promise<void> {
    if (outcomes.every((outcome) => outcome.answer === 'blocked')) return
    const failed = outcomes.filter((outcome) => outcome.answer === 'failed')
    if (failed.length === 0) return await hosts.succeeded(hostId)
    const retryAfter = Math.max(0, ...failed.map((outcome) => outcome.retryAfter ?? 0))
    await hosts.failed(hostId, retryAfter)
  }

  async function removeSent(id: number): Promise<void> {
    await db.query(
      `with sent as (delete from delivery where id = $1 returning document_id)
       delete from document d using sent where d.id = sent.document_id
         and not exists (select 1 from delivery o where o.document_id = d.id and o.id <> $1)`,
      [id],
    )
  }

  async function parkInbox(inboxUrl: string): Promise<void> {
    await db.query(
      "update delivery set state = 'parked', error = 'The inbox is gone.' where inbox_url = $1 and state = 'waiting'",
      [inboxUrl],
    )
  }
}
