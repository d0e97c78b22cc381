// The lane of a host: sends what waits for it, in order for each actor, at most a few actors at once. A host that
// fails is left alone for a time that doubles; while it fails one delivery tries its luck for all.

import { LRUCache } from 'lru-cache'
import { batched } from '../../platform/batched.ts'
import {
  type DeliveryContext,
  type DeliveryEvent,
  type DeliveryState,
  deliveryMachine,
  initialDelivery,
} from '../../state-machines/delivery.ts'
import { step } from '../../state-machines/step.ts'
import { type KnownHost, type RemoteHosts, type SignatureProfile, signatureProfiles } from '../remote-host/index.ts'
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

interface HeadRow {
  id: number
  actorId: number
  inboxUrl: string
  documentId: number
  context: Partial<DeliveryContext>
  hasBacklog: boolean
}

interface Head extends HeadRow, WaitingDelivery {}

/** A host as its lane finds it, with what may be sent now. */
interface HostWork extends KnownHost {
  heads: HeadRow[] | null
}

type StoredDocument = Pick<WaitingDelivery, 'activityId' | 'type' | 'body'>

const CLEAN_UP_EVERY_MS = 600_000
const UNUSED_DOCUMENT_MS = 3_600_000
/** An answer that takes longer is awaited without a place among the workers. */
const PATIENCE_MS = 25
const HOSTS_AT_ONCE = 100
const SENT_AT_ONCE = 500
/** Documents on their way, in characters: thousands of hosts read one copy. */
const DOCUMENTS_KEPT = 8_000_000

export function registerDeliveries(deps: ActorDeps & { hosts: RemoteHosts; send: Send }): void {
  const { db, registry, clock, config, logger, hosts, send } = deps
  const settings = () => config().vireo.federation.delivery
  const documents = new LRUCache<number, StoredDocument>({
    maxSize: DOCUMENTS_KEPT,
    sizeCalculation: ({ body }) => body.length + 1,
  })

  registry.lane(DELIVERY_LANE, {
    queue: 'delivery',
    nextDueSql: `select coalesce(h.due_at, now()) from remote_host h where h.id = lane.key::int and h.state <> 'dormant'
      and exists (select 1 from delivery d where d.host_id = h.id and d.state = 'waiting')`,
    patience: () => ({ ms: PATIENCE_MS, atMost: settings().slow_hosts_in_flight }),
    async drain(key, { signal, patiently }) {
      const hostId = Number(key)
      while (!signal.aborted) {
        const host = await workOf(hostId)
        if (!host || host.state === 'dormant') return null
        if (host.dueAt !== null && host.dueAt > clock.now()) return host.dueAt
        const heads = await withDocuments(host.heads ?? [])
        if (heads.length === 0) return null
        const outcomes = await patiently(() =>
          Promise.all(heads.map((head) => deliver(hostId, host.signatureProfile, head, signal))),
        )
        if (!signal.aborted) await tellHost(host, outcomes)
        const isEmptied =
          heads.length < settings().actors_in_flight_per_host &&
          !heads.some(({ hasBacklog }) => hasBacklog) &&
          outcomes.every(({ answer }) => answer === 'sent')
        // What came meanwhile made the lane dirty.
        if (isEmptied) return null
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
   * The host, and the oldest waiting delivery of each actor; actors without backlog first, else the oldest first. Goes
   * through the index from actor to actor, since a host that was away for days has a long backlog and is asked of often.
   * While a host fails, one delivery tries its luck for all. Hosts that are looked at together share a statement.
   */
  const workOf = batched<number, HostWork | undefined>(
    async (hostIds) => {
      const rows = await db.query<HostWork>(
        `select h.id, h.host, h.state, h.due_at as "dueAt", h.signature_profile as "signatureProfile", (
           with recursive actors as (
             select min(actor_id) as id from delivery where host_id = h.id and state = 'waiting'
             union all
             select (select min(d.actor_id) from delivery d
                     where d.host_id = h.id and d.state = 'waiting' and d.actor_id > actors.id)
             from actors where actors.id is not null
           ), heads as (
             select first.id, exists (
                 select 1 from delivery d
                 where d.host_id = h.id and d.state = 'waiting' and d.actor_id = actors.id and d.id > first.id
               ) as has_backlog
             from actors cross join lateral (
               select min(d.id) as id from delivery d
               where d.host_id = h.id and d.state = 'waiting' and d.actor_id = actors.id
             ) as first
             where actors.id is not null
             order by has_backlog, first.id limit case when h.state = 'failing' then 1 else $2::integer end
           )
           select json_agg(json_build_object('id', d.id, 'actorId', d.actor_id, 'inboxUrl', d.inbox_url,
             'documentId', d.document_id, 'context', d.context, 'hasBacklog', heads.has_backlog)
             order by heads.has_backlog, d.id)
           from heads join delivery d on d.id = heads.id
           where h.state <> 'dormant' and (h.due_at is null or h.due_at <= $3)
         ) as heads
         from remote_host h where h.id = any($1)`,
        [hostIds, settings().actors_in_flight_per_host, clock.now()],
      )
      const found = new Map(rows.map((row) => [row.id, row]))
      return hostIds.map((id) => found.get(id))
    },
    { max: HOSTS_AT_ONCE },
  )

  async function withDocuments(heads: HeadRow[]): Promise<Head[]> {
    return await Promise.all(
      heads.map(async (head) => ({ ...head, ...(documents.get(head.documentId) ?? (await read(head.documentId))) })),
    )
  }

  const read = batched<number, StoredDocument>(
    async (ids) => {
      const wanted = [...new Set(ids)]
      const rows = await db.query<StoredDocument & { id: number }>(
        'select id, activity_id as "activityId", type, body from document where id = any($1)',
        [wanted],
      )
      const found = new Map(rows.map(({ id, ...document }) => [id, document]))
      for (const [id, document] of found) documents.set(id, document)
      return ids.map((id) => {
        const document = found.get(id)
        if (!document) throw new Error(`The document ${id} is gone.`)
        return document
      })
    },
    { max: HOSTS_AT_ONCE },
  )

  async function deliver(
    hostId: number,
    preferred: SignatureProfile,
    head: Head,
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
  async function tellHost(host: KnownHost, outcomes: SendOutcome[]): Promise<void> {
    const error = outcomes.find((outcome) => outcome.error !== null)?.error
    if (error) await hosts.noteError(host.id, error)
    if (outcomes.every((outcome) => outcome.answer === 'blocked')) return
    const failed = outcomes.filter((outcome) => outcome.answer === 'failed')
    if (failed.length === 0) {
      await hosts.succeeded(host)
      return
    }
    const retryAfter = Math.max(0, ...failed.map((outcome) => outcome.retryAfter ?? 0))
    await hosts.failed(host.id, retryAfter)
  }

  // The last delivery of a document takes it along; one that two processes end at once is left to the clean-up.
  const removeSent = batched<number, void>(
    async (ids) => {
      await db.query(
        `with sent as (delete from delivery where id = any($1) returning document_id)
         delete from document d using (select distinct document_id from sent) as s
         where d.id = s.document_id
           and not exists (select 1 from delivery o where o.document_id = d.id and o.id <> all($1))`,
        [ids],
      )
      return ids.map(() => undefined)
    },
    { max: SENT_AT_ONCE },
  )

  async function parkInbox(inboxUrl: string): Promise<void> {
    await db.query(
      "update delivery set state = 'parked', error = 'The inbox is gone.' where inbox_url = $1 and state = 'waiting'",
      [inboxUrl],
    )
  }
}
