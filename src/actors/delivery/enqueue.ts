// Puts a document on its way: stored once, with one delivery row for each inbox, in the transaction of the event.

import type { Sql } from '../../platform/database/index.ts'
import type { Unit } from '../runtime/index.ts'

export interface Recipient {
  inboxUrl: string
  hostId: number
}

export interface OutgoingDocument {
  activityId: string
  /** ActivityStreams type of the activity, with that of its object when that is what peers may not know: `Create:CacheFile`. */
  type: string
  /** The signed document, as it is sent. */
  body: string
  /** Row id of the actor of ours that sends it. */
  senderId: number
  /** Also for servers that the instance blocks. */
  toBlocked?: boolean
}

export const DELIVERY_LANE = 'delivery'

/** Software that reads PeerTube's own types. A host of unknown software may be one of them, until it refuses. */
const OWN_KIND = ['peertube', 'vireo']

/** Hosts that are dormant or blocked, that refuse this type, or that are known not to read it, get no row. */
export async function enqueueDocument(unit: Unit, document: OutgoingDocument, recipients: Recipient[]): Promise<void> {
  const inboxes = new Map(recipients.map((recipient) => [recipient.inboxUrl, recipient.hostId]))
  if (inboxes.size === 0) return
  const [stored] = await unit.query<{ id: number }>(
    'insert into document (activity_id, type, body) values ($1, $2, $3) returning id',
    [document.activityId, document.type, document.body],
  )
  const hosts = await unit.query<{ host_id: number }>(
    `insert into delivery (document_id, host_id, actor_id, inbox_url)
     select $1, i.host_id, $2, i.inbox_url from unnest((select $3::text[]), (select $4::int[])) as i (inbox_url, host_id)
     join remote_host h on h.id = i.host_id
     where h.state <> 'dormant' and not ($5 = any(h.unsupported_types))
       and ((select $6::text[]) is null or h.software is null or lower(h.software) = any((select $6::text[])::text[]))
       and ((select $7::boolean) or not exists (select 1 from server_block b where b.host in (h.host, split_part(h.host, ':', 1)) and b.owner_id is null))
     returning host_id`,
    [
      stored?.id,
      document.senderId,
      [...inboxes.keys()],
      [...inboxes.values()],
      document.type,
      document.type.includes(':') ? OWN_KIND : null,
      document.toBlocked ?? false,
    ],
  )
  if (hosts.length === 0) {
    await unit.query('delete from document where id = $1', [stored?.id])
    return
  }
  for (const { host_id } of hosts) unit.wake(DELIVERY_LANE, String(host_id))
}

/** Where the followers of actors of ours read: one shared inbox for each server that has one. */
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
  const rows = await query<{ inbox_url: string; shared_inbox_url: string | null; host_id: number | null }>(
    'select inbox_url, shared_inbox_url, host_id from actor where id = $1 and deleted_at is null',
    [actorId],
  )
  return rows.flatMap((row) =>
    row.host_id === null
      ? []
      : [{ inboxUrl: options.personal ? row.inbox_url : (row.shared_inbox_url ?? row.inbox_url), hostId: row.host_id }],
  )
}
