// Followers, following, outbox and playlists of local actors, in pages of addresses or raw activities.

import { playlistPrivacies } from '../../actors/playlist/index.ts'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import { FEDERATED_STATES, videoPrivacies } from '../../actors/video/index.ts'
import type { Sql } from '../../platform/database/index.ts'
import { announceActivity, createVideoActivity, type SharedVideo, videoDocuments } from '../documents/index.ts'
import type { ActorCollection } from '../urls.ts'
import { buildTombstone, type JsonObject } from '../wire/index.ts'
import { collectionDocument, type Items, type Page, type PageParts, type Range, type ReadItems, readPage } from './collection.ts'
import type { DispatcherDeps } from './deps.ts'

interface ActorRow {
  id: number
  type: string
  url: string
}

/** Videos in outboxes: those that everybody can find, newest first. */
const listed = `not v.remote and v.privacy = ${videoPrivacies.public} and not v.blocked and v.state in ${FEDERATED_STATES}`

/** Published by an account: per channel as many of the newest as the page needs, in index order. */
const CREATIONS: PageParts = {
  ids: `select n.id from account a join channel c on c.account_id = a.id cross join lateral (
      select v.id, v.published_at from video v where v.channel_id = c.id and ${listed}
      order by v.published_at desc, v.id desc limit $2::bigint + $3::bigint
    ) n where a.actor_id = $1 order by n.published_at desc, n.id desc`,
  total: `(select count(*) from account a join channel c on c.account_id = a.id join video v on v.channel_id = c.id
    where a.actor_id = $1 and ${listed})`,
  item: 'page.id',
  join: '',
}

/** The few local videos that are not listed, from an index. */
const unlisted = `not v.remote and (v.privacy <> ${videoPrivacies.public} or v.state not in ${FEDERATED_STATES} or v.blocked)`

/** Shared by a channel or the instance, newest first. */
const SHARED: PageParts = {
  ids: `select s.id from share s where s.actor_id = $1
    and not exists (select 1 from video v where v.id = s.video_id and ${unlisted}) order by s.id desc`,
  total: `(select count(*) from share s where s.actor_id = $1)
    - (select count(*) from video v join share s on s.video_id = v.id and s.actor_id = $1 where ${unlisted})`,
  item: `jsonb_build_object('id', s.url, 'videoUrl', v.url, 'privacy', v.privacy, 'accountUrl', x.url)`,
  join: `join share s on s.id = page.id join video v on v.id = s.video_id and ${listed}
    join channel c on c.id = v.channel_id join account a on a.id = c.account_id join actor x on x.id = a.actor_id`,
}

/** Oldest first: new ones change only the last page. */
const PLAYLISTS: PageParts = {
  ids: `select p.id from playlist p where not p.remote and p.privacy = ${playlistPrivacies.public}
    and (p.account_id in (select a.id from account a where a.actor_id = $1)
      or p.channel_id in (select c.id from channel c where c.actor_id = $1)) order by p.id`,
  item: 'to_jsonb(p.url)',
  join: 'join playlist p on p.id = page.id',
}

/** Addresses of the other ends of accepted follows, oldest first: new ones change only the last page. */
const follows = (of: 'target_id' | 'follower_id', other: 'target_id' | 'follower_id'): PageParts => ({
  ids: `select f.id from follow f where f.${of} = $1 and f.state = 'accepted' order by f.id`,
  item: 'to_jsonb(x.url)',
  join: `join follow f on f.id = page.id join actor x on x.id = f.${other} and x.deleted_at is null`,
})

/** By name; for performance tests. */
export const actorPages = {
  followers: follows('target_id', 'follower_id'),
  following: follows('follower_id', 'target_id'),
  creations: CREATIONS,
  shared: SHARED,
  playlists: PLAYLISTS,
}

/** A collection of a local actor, or a page of it. At most three statements. */
export async function actorCollection(
  deps: Pick<DispatcherDeps, 'db' | 'urls' | 'config'>,
  owner: { kind: 'account' | 'channel'; name: string },
  name: Exclude<ActorCollection, 'inbox'>,
  page: Page,
): Promise<JsonObject> {
  const { db, urls, config } = deps
  const actor = await findActor(db.query, owner)
  return await collectionDocument({
    id: urls.actorCollection(actor.url, name),
    page,
    pageSize: config().vireo.federation.collection_page_items,
    ...(name === 'outbox' && actor.type === 'Person' ? { kind: 'video' as const } : {}),
    read: reader(),
  })

  function reader(): ReadItems {
    switch (name) {
      case 'followers':
        return (range) => readPage<string>(db.query, { ...actorPages.followers, value: actor.id }, range)
      case 'following':
        return (range) => readPage<string>(db.query, { ...actorPages.following, value: actor.id }, range)
      case 'outbox':
        return actor.type === 'Person' ? creations : announces
      case 'playlists':
        return (range) => readPage<string>(db.query, { ...PLAYLISTS, value: actor.id }, range)
    }
  }

  /** What an account published. */
  async function creations(range: Range): Promise<Items> {
    const { total, items } = await readPage<number>(db.query, { ...CREATIONS, value: actor.id }, range)
    const videos = await videoDocuments(db.query, urls, items)
    return { total, items: videos.map((video) => createVideoActivity(urls, video)) }
  }

  /** What a channel or the instance passed on. */
  async function announces(range: Range): Promise<Items> {
    const parts = { ...SHARED, value: actor.id }
    const { total, items } = await readPage<Omit<SharedVideo, 'actorUrl'>>(db.query, parts, range)
    return { total, items: items.map((share) => announceActivity(urls, { ...share, actorUrl: actor.url })) }
  }
}

/** A local actor. Throws DomainError `not_found` or `gone`. */
export async function findActor(query: Sql, owner: { kind: 'account' | 'channel'; name: string }): Promise<ActorRow> {
  const ofKind = owner.kind === 'channel' ? "type = 'Group'" : "type <> 'Group'"
  const [actor] = await query<ActorRow & { isGone: boolean }>(
    `select id, type, url, deleted_at is not null as "isGone" from actor
     where lower(preferred_username) = lower($1) and ${ofKind} and host_id is null`,
    [owner.name],
  )
  if (!actor) throw notFound(owner.kind === 'channel' ? 'Video channel not found' : 'Account not found')
  if (actor.isGone) throw goneActor(owner.kind)
  return actor
}

/** The Tombstone of a deleted local actor; a name that never existed has none. */
export async function actorTombstone(
  query: Sql,
  { kind, name }: { kind: 'account' | 'channel'; name: string },
): Promise<JsonObject | null> {
  const ofKind = kind === 'channel' ? "type = 'Group'" : "type <> 'Group'"
  const [gone] = await query<{ url: string; type: string; created_at: Date; deleted_at: Date }>(
    `select url, type, created_at, deleted_at from actor
     where lower(preferred_username) = lower($1) and ${ofKind} and host_id is null and deleted_at is not null`,
    [name],
  )
  if (!gone) return null
  const { url: id, type: formerType, created_at: publishedAt, deleted_at: deletedAt } = gone
  return buildTombstone({ id, formerType, inReplyTo: null, publishedAt, updatedAt: null, deletedAt })
}

/** True if a deleted local actor had this name. */
export async function isTombstoneName(query: Sql, name: string): Promise<boolean> {
  const [gone] = await query(
    `select 1 from actor where host_id is null and deleted_at is not null and lower(preferred_username) = lower($1)`,
    [name],
  )
  return gone !== undefined
}

const goneActor = (kind: 'account' | 'channel'): DomainError =>
  new DomainError('gone', kind === 'channel' ? 'This video channel was deleted.' : 'This account was deleted.')
