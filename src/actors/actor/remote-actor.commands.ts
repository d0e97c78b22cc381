// Remote actors: stored on the first contact, refreshed on their updates and when somebody views a stale one.

import { batched } from '../../platform/batched.ts'
import type { Columns, Sql } from '../../platform/database/index.ts'
import { initialRemoteActor, type RemoteActorState, remoteActorMachine } from '../../state-machines/remote-actor.ts'
import { storeRemoteAccount } from '../account/account.writes.ts'
import { replaceRemoteImages } from '../actor-image/actor-image.writes.ts'
import { storeRemoteChannel } from '../channel/channel.writes.ts'
import { ensureHost, type SignatureProfile } from '../remote-host/index.ts'
import { type ActorDeps, advanceRow, DomainError, defineLifecycle, recountNext, takes, type Unit } from '../runtime/index.ts'
import type { Actor, ActorType } from './actor.entity.ts'

/** The content of an actor document, parsed and checked by the wire layer: every URL is on the actor's own host. */
export interface RemoteActor {
  type: ActorType
  url: string
  /** Host of the actor's id, with its port unless that is the default. */
  host: string
  username: string
  name: string
  summary: string | null
  support: string | null
  inboxUrl: string
  sharedInboxUrl: string | null
  outboxUrl: string | null
  followersUrl: string | null
  followingUrl: string | null
  keyId: string
  publicKeyPem: string
  ed25519Public: string | null
  createdAt: Date | null
  /** ActivityPub ids of the owners of a Group: the first account among them is stored before it. */
  ownerUrls: string[]
  images: { type: 1 | 2; fileUrl: string; width: number | null; height: number | null }[]
}

export interface StoredActor {
  id: number
  type: ActorType
  url: string
  hostId: number
  inboxUrl: string
  sharedInboxUrl: string | null
  /** Row of the account (Person and similar) or channel (Group). */
  accountId: number | null
  channelId: number | null
}

interface FoundActor extends StoredActor {
  refreshedAt: Date | null
}

const FOUND_AT_ONCE = 100
const REFRESH_ASKED_EVERY_MS = 3_600_000
const FOLLOWERS_ASKED_EVERY_MS = 3_600_000
/** Delay after the fetch, since other work depends on the actor. */
const FOLLOWERS_AFTER_MS = 1000
const MAX_INTEGER = 2_147_483_647

export type RemoteActors = ReturnType<typeof makeRemoteActors>

export function makeRemoteActors(deps: ActorDeps) {
  const { db, tell } = deps

  async function findAll(query: Sql, urls: string[]): Promise<(FoundActor | undefined)[]> {
    const rows = await query<FoundActor>(
      `select a.id, a.type, a.url, a.host_id as "hostId", a.inbox_url as "inboxUrl", a.shared_inbox_url as "sharedInboxUrl",
         a.refreshed_at as "refreshedAt", ac.id as "accountId", c.id as "channelId"
       from unnest((select $1::text[])) as asked (url), lateral (
           select * from actor where url_hash = md5(asked.url)::uuid and url = asked.url limit 1
         ) as a left join account ac on ac.actor_id = a.id left join channel c on c.actor_id = a.id
       where a.host_id is not null and a.deleted_at is null`,
      [[...new Set(urls)]],
    )
    const found = new Map(rows.map((row) => [row.url, row]))
    return urls.map((url) => found.get(url))
  }

  // Called for each activity: concurrent calls share a statement.
  const find = batched<string, FoundActor | undefined>((urls) => findAll(db.query, urls), { max: FOUND_AT_ONCE })

  return {
    find,
    /** Queues a job that refreshes the actor; at most once an hour. */
    async askRefresh(actorId: number): Promise<void> {
      await tell.create(async (unit) => {
        const asked = await unit.query(
          `update actor set refresh_asked_at = $2 where id = $1 and host_id is not null
             and (refresh_asked_at is null or refresh_asked_at < $3) returning id`,
          [actorId, unit.now, new Date(unit.now.getTime() - REFRESH_ASKED_EVERY_MS)],
        )
        if (asked.length === 0) return
        unit.enqueue({ type: 'activitypub-refresher', data: { actorId }, dedupeKey: `refresh-actor-${actorId}` })
      })
    },
    /** Stores the follower count that its own server reports, if the actor still exists. The local followers are the minimum. */
    async saveFollowers(actorId: number, total: number): Promise<void> {
      await tell.create(async (unit) => {
        const known = await unit.query(
          `update actor set remote_followers = $2 where id = $1 and host_id is not null and deleted_at is null returning id`,
          [actorId, Math.min(total, MAX_INTEGER)],
        )
        if (known.length > 0) await recountFollows(unit, actorId)
      })
    },
    /** Its server does not know the actor. Returns how often in a row. */
    async strike(actorId: number): Promise<number> {
      const [row] = await db.query<Columns<Actor, 'strikes'>>(
        'update actor set strikes = least(strikes + 1, 1000) where id = $1 and host_id is not null returning strikes',
        [actorId],
      )
      return row?.strikes ?? 0
    },
    /** The actor is deleted on its server: marks it as removed, and queues a job that deletes its content. */
    async remove(actorId: number): Promise<void> {
      await tell({ aggregate: 'actor', id: actorId }, (unit) => endRemoteActor(unit, actorId))
    },
    /** Stores or refreshes. Throws DomainError `unprocessable` if a Group's owner is not stored. */
    async save(actor: RemoteActor, { profile = 'cavage' }: { profile?: SignatureProfile } = {}): Promise<StoredActor> {
      const hostId = await ensureHost(db.query, actor.host, profile)
      return await tell.create(async (unit) => {
        const actorId = await upsertActor(unit, actor, hostId)
        const described = { ...actor, createdAt: madeAt(actor, unit) }
        if (actor.type === 'Group') await storeRemoteChannel(unit, actorId, described)
        else await storeRemoteAccount(unit, actorId, described)
        await replaceRemoteImages(unit.query, actorId, actor.images)
        await queueFollowerCount(unit, actorId)
        const [stored] = await findAll(unit.query, [actor.url])
        if (!stored) throw new DomainError('gone', 'This actor was deleted.')
        return stored
      })
    },
  }
}

/** Queues the job that reads the follower count of an actor; at most once an hour. */
async function queueFollowerCount(unit: Unit, actorId: number): Promise<void> {
  const asked = await unit.query(
    `update actor set followers_asked_at = $2 where id = $1 and followers_url is not null and deleted_at is null
       and (followers_asked_at is null or followers_asked_at < $3) returning id`,
    [actorId, unit.now, new Date(unit.now.getTime() - FOLLOWERS_ASKED_EVERY_MS)],
  )
  if (asked.length === 0) return
  unit.enqueue({
    type: 'remote-followers',
    data: { actorId },
    dedupeKey: `remote-followers-${actorId}`,
    delayMs: FOLLOWERS_AFTER_MS,
  })
}

export const remoteActorLifecycle = defineLifecycle({
  table: 'actor',
  machine: remoteActorMachine,
  initial: initialRemoteActor,
  touches: false,
  columns: ({ state }) => ({ remoteState: state }),
})

export const REMOTE_ACTOR_REMOVAL = 'remote-actor-removal'

/** Queues the job that deletes the content of a removed remote actor. */
export function queueRemoval(unit: Unit, actorId: number): void {
  unit.enqueue({
    type: REMOTE_ACTOR_REMOVAL,
    data: { actorId },
    dedupeKey: `${REMOTE_ACTOR_REMOVAL}-${actorId}`,
  })
}

async function endRemoteActor(unit: Unit, actorId: number): Promise<void> {
  const [actor] = await unit.query<Columns<Actor, 'id'> & { state: RemoteActorState }>(
    'select id, remote_state as state from actor where id = $1 and host_id is not null',
    [actorId],
  )
  // Repeated removals do nothing.
  if (!actor || !takes(remoteActorLifecycle, actor, { type: 'GONE' })) return
  await advanceRow(unit, remoteActorLifecycle, actor, { type: 'GONE' }, { deletedAt: unit.now, updatedAt: unit.now })
  queueRemoval(unit, actorId)
}

/**
 * SQL for the counters of an actor `t`. Only some follows of a remote actor are known; its follower count is the one that its own server
 * reported, which is null for a local one.
 */
const followCounts = {
  followers_count: "greatest(t.remote_followers, (select count(*) from follow f where f.target_id = t.id and f.state = 'accepted'))",
  following_count: "(select count(*) from follow f where f.follower_id = t.id and f.state = 'accepted')",
}

/** Recounts the followers and followings of the next actors. */
export const recountActors = (query: Sql, place: { of?: string; after: number; limit: number }) =>
  recountNext(query, { ...place, table: 'actor', counts: followCounts })

/** Recounts the followers and followings of an actor. */
export async function recountFollows(unit: Unit, actorId: number): Promise<void> {
  // Locked first: an older count must not overwrite a newer one.
  await unit.query('select from actor where id = $1 for no key update', [actorId])
  await unit.query(
    `update actor t set followers_count = ${followCounts.followers_count}, following_count = ${followCounts.following_count}
     where t.id = $1`,
    [actorId],
  )
}

async function upsertActor(unit: Unit, actor: RemoteActor, hostId: number): Promise<number> {
  // The id of an actor never moves to another host, nor between accounts and channels: the first contact decides. The type of an account
  // may change: a person may become a bot. A removed actor may come back (MET), with existing blocks; not while its removal is running.
  const [row] = await unit.query<Columns<Actor, 'id'> & { state: RemoteActorState }>(
    `insert into actor (type, preferred_username, host_id, url, inbox_url, shared_inbox_url, outbox_url, followers_url,
       following_url, key_id, public_key_pem, ed25519_public, remote_created_at, refreshed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
     on conflict (url_hash) do update set type = excluded.type, inbox_url = excluded.inbox_url, shared_inbox_url = excluded.shared_inbox_url,
       outbox_url = excluded.outbox_url, followers_url = excluded.followers_url, following_url = excluded.following_url,
       key_id = excluded.key_id, public_key_pem = excluded.public_key_pem, ed25519_public = excluded.ed25519_public,
       remote_created_at = excluded.remote_created_at, refreshed_at = excluded.refreshed_at, updated_at = excluded.refreshed_at,
       strikes = 0
     where actor.url = excluded.url and actor.host_id = excluded.host_id and (actor.type = 'Group') = (excluded.type = 'Group')
     returning id, remote_state as state`,
    [
      actor.type,
      actor.username,
      hostId,
      actor.url,
      actor.inboxUrl,
      actor.sharedInboxUrl,
      actor.outboxUrl,
      actor.followersUrl,
      actor.followingUrl,
      actor.keyId,
      actor.publicKeyPem,
      actor.ed25519Public,
      actor.createdAt,
      unit.now,
    ],
  )
  if (!row) throw new DomainError('forbidden', 'This address belongs to another actor.')
  const met = { type: 'MET' } as const
  if (takes(remoteActorLifecycle, row, met)) await advanceRow(unit, remoteActorLifecycle, row, met, { deletedAt: null })
  return row.id
}

/** Used for sorting lists; never later than its arrival. */
const madeAt = ({ createdAt }: RemoteActor, { now }: Unit): Date => (createdAt !== null && createdAt < now ? createdAt : now)
