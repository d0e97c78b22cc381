// Queues documents for delivery: stored once, with one delivery row per inbox, in the transaction of the event.

import type { Columns, Sql } from '../../platform/database/index.ts'
import type { Actor } from '../actor/actor.entity.ts'
import type { Unit } from '../runtime/index.ts'

export interface Recipient {
  inboxUrl: string
  hostId: number
}

export interface OutgoingDocument {
  activityId: string
  /** ActivityStreams type of the activity, with the type of its object if peers may not know that: `Create:CacheFile`. */
  type: string
  /** The signed document, as it is sent. */
  body: string
  /** Row id of the sending local actor. */
  senderId: number
  /** Also to servers that the instance blocks. */
  toBlocked?: boolean
}

export const DELIVERY_LANE = 'delivery'

/** Software that reads PeerTube's own types. A host of unknown software may be one of them, until it refuses. */
const OWN_KIND = ['peertube', 'vireo']

export interface Dispatch {
  document: OutgoingDocument
  recipients: readonly Recipient[]
}

export const enqueueDocument = (unit: Unit, document: OutgoingDocument, recipients: readonly Recipient[]): Promise<void> =>
  enqueueDocuments(unit, [{ document, recipients }])

/**
 * In order, by one statement. Hosts that are dormant or blocked, or that do not read this type, get no row. A document without recipients
 * is not stored.
 */
export async function enqueueDocuments(unit: Unit, dispatches: readonly Dispatch[]): Promise<void> {
  const documents = dispatches.map(({ document }) => document)
  const rows = dispatches.flatMap(({ recipients }, at) =>
    [...new Map(recipients.map(({ inboxUrl, hostId }) => [inboxUrl, hostId]))].map(([inboxUrl, hostId]) => ({
      place: at + 1,
      inboxUrl,
      hostId,
    })),
  )
  if (rows.length === 0) return
  const hosts = await unit.query<{ host_id: number }>(
    `with asked as materialized (
       select nextval(pg_get_serial_sequence('document', 'id')) as id, d.* from unnest((select $1::text[]), (select $2::text[]),
         (select $3::text[]), (select $4::int[]), (select $5::boolean[]), (select $6::boolean[])) with ordinality
         as d (activity_id, type, body, sender_id, is_own_kind, to_blocked, place)
     ), due as materialized (
       select d.id, d.sender_id, i.host_id, i.inbox_url, i.nth
       from unnest((select $7::int[]), (select $8::text[]), (select $9::int[])) with ordinality as i (place, inbox_url, host_id, nth)
         join asked d on d.place = i.place join remote_host h on h.id = i.host_id
       where h.state <> 'dormant' and not (d.type = any(h.unsupported_types))
         and (not d.is_own_kind or h.software is null or lower(h.software) = any(array['${OWN_KIND.join("', '")}']))
         and (d.to_blocked or not exists (
           select 1 from server_block b where b.host in (h.host, split_part(h.host, ':', 1)) and b.owner_id is null))
     ), stored as (
       insert into document (id, activity_id, type, body) select id, activity_id, type, body from asked
       where id in (select id from due) order by place
     ), sent as (
       insert into delivery (document_id, host_id, actor_id, inbox_url) select id, host_id, sender_id, inbox_url from due
       order by nth
     ) select distinct host_id from due`,
    [
      documents.map(({ activityId }) => activityId),
      documents.map(({ type }) => type),
      documents.map(({ body }) => body),
      documents.map(({ senderId }) => senderId),
      documents.map(({ type }) => type.includes(':')),
      documents.map(({ toBlocked = false }) => toBlocked),
      rows.map(({ place }) => place),
      rows.map(({ inboxUrl }) => inboxUrl),
      rows.map(({ hostId }) => hostId),
    ],
  )
  for (const { host_id } of hosts) unit.wake(DELIVERY_LANE, String(host_id))
}

/** The inboxes of the followers of local actors: one shared inbox for each server that has one. */
export async function followersOf(query: Sql, actorIds: number[]): Promise<Recipient[]> {
  return await query<{ inboxUrl: string; hostId: number }>(
    `select distinct coalesce(a.shared_inbox_url, a.inbox_url) as "inboxUrl", a.host_id as "hostId"
     from follow f join actor a on a.id = f.follower_id
     where f.target_id = any($1) and f.state = 'accepted' and a.host_id is not null and a.deleted_at is null`,
    [actorIds],
  )
}

/** The inbox of one remote actor; `personal` for what must not go to the shared one (Accept, Reject, Follow, Undo Follow). */
export async function inboxOf(query: Sql, actorId: number, options: { personal: boolean }): Promise<Recipient[]> {
  const rows = await query<Columns<Actor, 'inboxUrl' | 'sharedInboxUrl' | 'hostId'>>(
    'select inbox_url, shared_inbox_url, host_id from actor where id = $1 and deleted_at is null',
    [actorId],
  )
  return rows.flatMap((row) =>
    row.host_id === null
      ? []
      : [{ inboxUrl: options.personal ? row.inbox_url : (row.shared_inbox_url ?? row.inbox_url), hostId: row.host_id }],
  )
}
