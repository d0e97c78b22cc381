// Followers, following, outbox and playlists of our actors, in pages of addresses or raw activities.

import { playlistPrivacies } from '../../actors/playlist/index.ts'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import { videoPrivacies } from '../../actors/video/index.ts'
import type { Sql } from '../../platform/database/index.ts'
import { announceActivity, createVideoActivity, type SharedVideo, videoDocuments } from '../documents/index.ts'
import type { ActorCollection, Urls } from '../urls.ts'
import { buildTombstone, type JsonObject } from '../wire/index.ts'
import { collectionDocument, type Items, type Page, type Range, type ReadItems, readPage } from './collection.ts'
import type { DispatcherDeps } from './deps.ts'

interface ActorRow {
  id: number
  type: string
  url: string
}

/** Shown in outboxes: what everybody may find, newest first. */
const LISTED = `not v.remote and v.privacy = ${videoPrivacies.public} and v.state = 'published'`
const NEWEST = 'v.published_at desc, v.id desc'
const OF_ACCOUNT = `from video v join channel c on c.id = v.channel_id join account a on a.id = c.account_id
  where a.actor_id = $1 and ${LISTED}`
const SHARED = `from share s join video v on v.id = s.video_id join channel c on c.id = v.channel_id
  join account a on a.id = c.account_id join actor x on x.id = a.actor_id where s.actor_id = $1 and ${LISTED}`
/** The oldest first: new ones change the last page only. */
const PLAYLISTS = {
  from: `from playlist p where not p.remote and p.privacy = ${playlistPrivacies.public}
    and (p.account_id in (select a.id from account a where a.actor_id = $1)
      or p.channel_id in (select c.id from channel c where c.actor_id = $1))`,
  column: 'p.url',
  order: 'p.id',
}
const SHARE = `jsonb_build_object('id', s.url, 'videoUrl', v.url, 'privacy', v.privacy, 'accountUrl', x.url)`

/** A collection of an actor of ours, or a page of it. At most three statements. */
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
        return follows(db.query, actor.id, { of: 'target_id', other: 'follower_id' })
      case 'following':
        return follows(db.query, actor.id, { of: 'follower_id', other: 'target_id' })
      case 'outbox':
        return actor.type === 'Person' ? creations : announces
      case 'playlists':
        return (range) => readPage<string>(db.query, { ...PLAYLISTS, value: actor.id }, range)
    }
  }

  /** What an account published. */
  async function creations(range: Range): Promise<Items> {
    const parts = { from: OF_ACCOUNT, column: 'v.id', order: NEWEST, value: actor.id }
    const { total, items } = await readPage<number>(db.query, parts, range)
    const videos = await videoDocuments(db.query, urls, items)
    return { total, items: videos.map((video) => createVideoActivity(urls, video)) }
  }

  /** What a channel or the instance passed on. */
  async function announces(range: Range): Promise<Items> {
    const parts = { from: SHARED, column: SHARE, order: NEWEST, value: actor.id }
    const { total, items } = await readPage<Omit<SharedVideo, 'actorUrl'>>(db.query, parts, range)
    return { total, items: items.map((share) => announceActivity(urls, { ...share, actorUrl: actor.url })) }
  }
}

/** An actor of ours. Throws DomainError `not_found` or `gone`. */
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

/** What is left of an actor of ours: what was deleted is told from what never was. */
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

/** Whether WebFinger asks for an actor of ours that was deleted, by its handle or its address. */
export async function isGoneHandle(query: Sql, urls: Urls, resource: string): Promise<boolean> {
  const [, name = '', host = ''] = /^(?:acct:)?@?([a-zA-Z0-9_.-]{1,120})@([^@/]+)$/.exec(resource) ?? []
  const asked = urls.parse(resource) ? resource : ''
  const [gone] = await query(
    `select 1 from actor where host_id is null and deleted_at is not null
       and (lower(preferred_username) = lower($1) and $2 or url_hash = md5($3)::uuid and url = $3)`,
    [name, host.toLowerCase() === urls.host.toLowerCase(), asked],
  )
  return gone !== undefined
}

const goneActor = (kind: 'account' | 'channel'): DomainError =>
  new DomainError('gone', kind === 'channel' ? 'This video channel was deleted.' : 'This account was deleted.')

/** Addresses of the other ends of accepted follows, the oldest first: new ones change the last page only. */
function follows(
  query: Sql,
  actorId: number,
  columns: { of: 'target_id' | 'follower_id'; other: 'target_id' | 'follower_id' },
): ReadItems {
  const from = `from follow f join actor x on x.id = f.${columns.other}
    where f.${columns.of} = $1 and f.state = 'accepted' and x.deleted_at is null`
  return (range) => readPage<string>(query, { from, column: 'x.url', order: 'f.id', value: actorId }, range)
}
