// The lane of a host: sends its waiting deliveries, in order per actor, a few actors at once. A failing host is retried after a delay that
// doubles; while it fails, one delivery probes it for all, a different one each time. A delivery that fails although the host accepts
// others is postponed on its own.

import { LRUCache } from 'lru-cache'
import { batched } from '../../platform/batched.ts'
import type { DeliveryContext, DeliveryEvent } from '../../state-machines/delivery.ts'
import { type KnownHost, type RemoteHosts, type SignatureProfile, signatureProfiles } from '../remote-host/index.ts'
import { type ActorDeps, inBulk, next, storeMove } from '../runtime/index.ts'
import { deliveryLifecycle } from './delivery.lifecycle.ts'
import { DELIVERY_LANE } from './enqueue.ts'

export interface WaitingDelivery {
  id: number
  /** Row id of the sending local actor. */
  actorId: number
  inboxUrl: string
  activityId: string
  type: string
  /** The signed document. */
  body: string
}

/** Result of one attempt. */
export interface SendOutcome {
  answer: 'sent' | 'failed' | 'busy' | 'unauthorized' | 'not-found' | 'gone' | 'unsupported' | 'blocked'
  /** Milliseconds that the host requested in Retry-After, if it did. */
  retryAfter?: number
  /** For the admin; null if it was sent. */
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

/** A host as its lane reads it, with the deliveries that may be sent now. */
interface HostWork extends KnownHost {
  heads: HeadRow[] | null
  lastSuccessAt: Date | null
  /** True if deliveries are postponed on their own: then it must be known exactly when the host accepted others. */
  hasPutOff: boolean
}

/** Result of delivering the oldest queued activity of an actor. */
interface Tried {
  head: Head
  outcome: SendOutcome
}

type StoredDocument = Pick<WaitingDelivery, 'activityId' | 'type' | 'body'>

const CLEAN_UP_EVERY_MS = 600_000
const UNUSED_DOCUMENT_MS = 3_600_000
/** A response that takes longer is awaited without a worker slot. */
const PATIENCE_MS = 25
const HOSTS_AT_ONCE = 100
const SENT_AT_ONCE = 500
/** Cached documents being sent, in characters: thousands of hosts share one copy. */
const DOCUMENTS_KEPT = 8_000_000

const inboxLost = (reason: 'inbox-gone' | 'not-found') => inBulk(deliveryLifecycle, { type: 'INBOX_LOST', reason })
const INBOX_LOST = {
  'inbox-gone': { ...inboxLost('inbox-gone'), error: 'The inbox is gone.' },
  'not-found': { ...inboxLost('not-found'), error: 'The inbox was not found.' },
}

/**
 * SQL: true if `d` is behind an earlier delivery of its actor that is postponed. A failed delivery may still succeed, so it blocks all
 * later ones of the actor; an inbox that is not found blocks only deliveries to the same inbox.
 */
const behind = (putOff: string): string => `exists (
  select 1 from delivery e where e.host_id = d.host_id and e.actor_id = d.actor_id and e.state = 'waiting' and ${putOff}
    and e.id < d.id and (e.inbox_url = d.inbox_url or coalesce((e.context->>'notFound')::int, 0) = 0))`

/** `d` is postponed as long as it has a time, until the next attempt. */
const NEXT_DUE = `select coalesce(greatest(h.due_at, case
      when not exists (select 1 from delivery p where p.host_id = h.id and p.state = 'waiting' and p.due_at is not null) then null
      when exists (
        select 1 from delivery d where d.host_id = h.id and d.state = 'waiting' and d.due_at is null
          and not ${behind('e.due_at is not null')}) then null
      else (select min(p.due_at) from delivery p where p.host_id = h.id and p.state = 'waiting' and p.due_at is not null)
    end), now())
  from remote_host h where h.id = lane.key::int and h.state <> 'dormant'
    and exists (select 1 from delivery d where d.host_id = h.id and d.state = 'waiting')`

export function registerDeliveries(deps: ActorDeps & { hosts: RemoteHosts; send: Send }): void {
  const { db, registry, clock, config, logger, hosts, send } = deps
  const settings = () => config().vireo.federation.delivery
  const documents = new LRUCache<number, StoredDocument>({
    maxSize: DOCUMENTS_KEPT,
    sizeCalculation: ({ body }) => body.length + 1,
  })

  registry.lane(DELIVERY_LANE, {
    queue: 'delivery',
    nextDueSql: NEXT_DUE,
    patience: () => ({ ms: PATIENCE_MS, atMost: settings().slow_hosts_in_flight }),
    async drain(key, { signal, isPaused, patiently }) {
      const hostId = Number(key)
      while (!signal.aborted && !isPaused()) {
        const host = await workOf(hostId)
        if (!host || host.state === 'dormant') return null
        if (host.dueAt !== null && host.dueAt > clock.now()) return host.dueAt
        const heads = await withDocuments(host.heads ?? [])
        if (heads.length === 0) return null
        const tried = await patiently(() => Promise.all(heads.map((head) => deliver(hostId, host.signatureProfile, head, signal))))
        if (!signal.aborted) await settle(host, tried)
        const isEmptied =
          heads.length < settings().actors_in_flight_per_host &&
          !heads.some(({ hasBacklog }) => hasBacklog) &&
          tried.every(({ outcome }) => outcome.answer === 'sent')
        // Later arrivals made the lane dirty.
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
      await db.query('delete from document d where created_at < $1 and not exists (select 1 from delivery where document_id = d.id)', [
        new Date(now - UNUSED_DOCUMENT_MS),
      ])
    },
  })

  /**
   * The host, and the oldest waiting delivery of each actor; actors without backlog first, then the oldest first. It steps through the
   * index from actor to actor, since a host that was down for days has a long backlog and is read often. While a host fails, one delivery
   * probes it for all: the one that was tried longest ago, since the delivery may be at fault, not the host. Hosts that are read at the
   * same time share a statement.
   */
  const workOf = batched<number, HostWork | undefined>(
    async (hostIds) => {
      const rows = await db.query<HostWork>(
        `select h.id, h.host, h.state, h.due_at as "dueAt", h.signature_profile as "signatureProfile",
         h.last_success_at as "lastSuccessAt", exists (
           select 1 from delivery p where p.host_id = h.id and p.state = 'waiting' and p.due_at is not null
         ) as "hasPutOff", (
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
               select d.id, d.context from delivery d
               where d.host_id = h.id and d.state = 'waiting' and d.actor_id = actors.id
                 and (d.due_at is null or d.due_at <= $3) and not ${behind('e.due_at > $3')}
               order by d.id limit 1
             ) as first
             where actors.id is not null
             order by case when h.state = 'failing' then coalesce((first.context->>'failedAt')::float8, 0) end,
               has_backlog, first.id
             limit case when h.state = 'failing' then 1 else $2::integer end
           )
           select json_agg(json_build_object('id', d.id, 'actorId', d.actor_id, 'inboxUrl', d.inbox_url,
             'documentId', d.document_id, 'context', d.context, 'hasBacklog', heads.has_backlog)
             order by heads.has_backlog, d.id)
           from heads join delivery d on d.id = heads.id
           where h.state <> 'dormant' and (h.due_at is null or h.due_at <= $3)
         ) as heads
         from remote_host h where h.id = any((select $1::int[])::int[])`,
        [hostIds, settings().actors_in_flight_per_host, clock.now()],
      )
      const found = new Map(rows.map((row) => [row.id, row]))
      return hostIds.map((id) => found.get(id))
    },
    { max: HOSTS_AT_ONCE },
  )

  async function withDocuments(heads: HeadRow[]): Promise<Head[]> {
    return await Promise.all(heads.map(async (head) => ({ ...head, ...(documents.get(head.documentId) ?? (await read(head.documentId))) })))
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
        if (!document) throw new Error(`The document ${id} does not exist any more.`)
        return document
      })
    },
    { max: HOSTS_AT_ONCE },
  )

  async function deliver(hostId: number, preferred: SignatureProfile, head: Head, signal: AbortSignal): Promise<Tried> {
    const profile = head.context.profile === 1 ? signatureProfiles.find((other) => other !== preferred) : preferred
    const outcome = await send(head, profile ?? preferred, signal)
    logger.debug({ inbox: head.inboxUrl, activity: head.activityId, answer: outcome.answer }, 'delivery')
    // The others are settled together, since their results are about the same host.
    if (outcome.answer === 'sent') {
      if (profile !== preferred && profile) await hosts.preferProfile(hostId, profile)
      await removeSent(head.id)
    }
    return { head, outcome }
  }

  /** Stores the results of failed deliveries, and their meaning for the host. */
  async function settle(host: HostWork, tried: Tried[]): Promise<void> {
    const isSent = tried.some(({ outcome }) => outcome.answer === 'sent')
    const failures: Tried[] = []
    for (const { head, outcome } of tried) {
      if (outcome.answer === 'sent') continue
      const failedAt = head.context.failedAt ?? 0
      const tookOthers = isSent || (failedAt > 0 && host.lastSuccessAt !== null && host.lastSuccessAt.getTime() > failedAt)
      const next = await store(host.id, head, outcome, tookOthers)
      const isOwnFault = next.state === 'parked' || next.context.wait > 0
      const isFailure = outcome.answer === 'failed' && (!isOwnFault || outcome.retryAfter !== undefined)
      if (isFailure || outcome.answer === 'busy') failures.push({ head, outcome })
    }
    await reportToHost(host, tried, failures)
  }

  async function store(hostId: number, head: Head, outcome: SendOutcome, tookOthers: boolean) {
    const now = clock.now()
    const from = { state: 'waiting', context: head.context }
    const move = next(deliveryLifecycle, from, eventOf(outcome, tookOthers), now)
    const { reason } = move.context
    // A type of PeerTube's own that the host cannot read is not sent to it again.
    if (reason === 'unsupported' && head.type.includes(':')) await hosts.noteUnsupported(hostId, head.type)
    await storeMove({ query: db.query, now }, deliveryLifecycle, move, { error: outcome.error }, { id: head.id })
    if (reason === 'inbox-gone' || reason === 'not-found') await parkInbox(hostId, head.inboxUrl, reason)
    return move
  }

  function eventOf({ answer, retryAfter }: SendOutcome, tookOthers: boolean): DeliveryEvent {
    const failure = { at: clock.now().getTime(), settings: settings() }
    switch (answer) {
      case 'sent':
        return { type: 'SENT' }
      case 'failed':
      case 'busy':
        return {
          type: 'FAILED',
          ...failure,
          tookOthers,
          isBusy: answer === 'busy',
          ...(retryAfter === undefined ? {} : { retryAfter }),
        }
      case 'unauthorized':
        return { type: 'UNAUTHORIZED' }
      case 'not-found':
        return { type: 'NOT_FOUND', ...failure }
      case 'gone':
        return { type: 'GONE' }
      case 'unsupported':
        return { type: 'UNSUPPORTED' }
      case 'blocked':
        return { type: 'BLOCKED' }
    }
  }

  /**
   * One event for all deliveries of an attempt: a host that accepted one of them is not at fault for the others. A host that reports
   * overload or a Retry-After is left alone in any case.
   */
  async function reportToHost(host: HostWork, tried: Tried[], failures: Tried[]): Promise<void> {
    const outcomes = tried.map(({ outcome }) => outcome)
    const error = outcomes.find((outcome) => outcome.error !== null)?.error
    if (error) await hosts.noteError(host.id, error)
    if (failures.length > 0) {
      const retryAfter = Math.max(0, ...failures.map(({ outcome }) => outcome.retryAfter ?? 0))
      return await hosts.failed(host.id, retryAfter)
    }
    const showsItAlive = ({ answer }: SendOutcome) => answer !== 'blocked' && answer !== 'failed'
    if (outcomes.some(showsItAlive)) await hosts.succeeded(host, { exactly: host.hasPutOff })
  }

  // The last delivery of a document deletes it; if two processes end at the same time, the clean-up does.
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

  async function parkInbox(hostId: number, inboxUrl: string, reason: keyof typeof INBOX_LOST): Promise<void> {
    const { set, where, error } = INBOX_LOST[reason]
    await db.query(`update delivery set ${set}, error = $3, due_at = null where host_id = $1 and ${where} and inbox_url = $2`, [
      hostId,
      inboxUrl,
      error,
    ])
  }
}
