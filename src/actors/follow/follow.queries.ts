// Reads about follows: the lists of the instance's followers and followings, and lookups by actor or address.

import { type Columns, containing, type Database, type InJson } from '../../platform/database/index.ts'
import type { Actor } from '../actor/actor.entity.ts'
import { type ActorImageRow, actorImageTypes, imagesOf } from '../actor/index.ts'
import type { Follow } from './follow.entity.ts'

export interface FollowRow extends InJson<Columns<Follow, 'id' | 'state' | 'createdAt' | 'updatedAt'>> {
  follower: FollowActorRow
  following: FollowActorRow
}

export interface FollowActorRow extends InJson<Columns<Actor, 'id' | 'url' | 'followersCount' | 'followingCount' | 'updatedAt'>> {
  name: string
  /** Null for a local actor. */
  host: string | null
  /** True if videos of the actor's server are copied. */
  redundancy_allowed: boolean
  created_at: string
  avatars: ActorImageRow[]
  banners: ActorImageRow[]
}

export interface FollowListQuery {
  /** Row id of the instance actor. */
  instanceActorId: number
  direction: 'followers' | 'following'
  start: number
  count: number
  sort: { column: 'createdAt' | 'redundancyAllowed' | 'state' | 'score'; descending: boolean }
  search?: string | undefined
  state?: 'pending' | 'accepted' | 'rejected' | undefined
  actorType?: string | undefined
}

const SHOWN_STATE = "case f.state when 'expired' then 'rejected' else f.state end"

const actorJson = (alias: string, host: string): string =>
  `json_build_object('id', ${alias}.id, 'url', ${alias}.url, 'name', ${alias}.preferred_username, 'host', ${host}.host,
     'redundancy_allowed', coalesce(${host}.redundancy_allowed, false),
     'followers_count', ${alias}.followers_count, 'following_count', ${alias}.following_count,
     'created_at', coalesce(${alias}.remote_created_at, ${alias}.created_at), 'updated_at', ${alias}.updated_at,
     'avatars', ${imagesOf(alias, actorImageTypes.avatar)}, 'banners', ${imagesOf(alias, actorImageTypes.banner)})`

const ACTOR_JOINS = `
  join actor a on a.id = f.follower_id left join remote_host ah on ah.id = a.host_id
  join actor b on b.id = f.target_id left join remote_host bh on bh.id = b.host_id`

const COLUMNS = {
  createdAt: 'f.created_at',
  redundancyAllowed: 'coalesce(bh.redundancy_allowed, false)',
  state: SHOWN_STATE,
  score: 'f.created_at',
}

/** One page of the instance's followers or followings, with the total of all matches. */
export async function listFollows(db: Database, query: FollowListQuery): Promise<{ total: number; rows: FollowRow[] }> {
  const [mine, other] = query.direction === 'followers' ? ['target_id', 'a'] : ['follower_id', 'b']
  const direction = query.sort.descending ? 'desc' : 'asc'
  const [page] = await db.query<{ total: number; rows: FollowRow[] }>(
    `with matching as (
       select f.id, f.follower_id, f.target_id, ${SHOWN_STATE} as state, f.created_at, f.updated_at,
         ${COLUMNS[query.sort.column]} as sort_key
       from follow f ${ACTOR_JOINS}
       where f.${mine} = $1 and f.state <> 'none'
         and ($2::text is null or ${SHOWN_STATE} = $2)
         and ($3::text is null or ${other}.type = $3)
         and ($4::text is null or ${other}h.host ilike $4 or ${other}.preferred_username ilike $4)
     ), chosen as (
       select * from matching order by sort_key ${direction}, id ${direction} limit $5 offset $6
     ), page as (
       select f.id, f.state, f.created_at, f.updated_at, f.sort_key,
         ${actorJson('a', 'ah')} as follower, ${actorJson('b', 'bh')} as following
       from chosen f ${ACTOR_JOINS}
     )
     select (select count(*) from matching) as total,
       coalesce((select json_agg(page order by sort_key ${direction}, id ${direction}) from page), '[]') as rows`,
    [
      query.instanceActorId,
      query.state ?? null,
      query.actorType ?? null,
      query.search ? containing(query.search) : null,
      query.count,
      query.start,
    ],
  )
  return page ?? { total: 0, rows: [] }
}

export interface FollowerListQuery {
  /** The followed actors: an account and its channels, or one actor. Row ids. */
  of: { accountId: number } | { actorId: number }
  start: number
  count: number
  sort: { descending: boolean }
  search?: string | undefined
}

/** One page of the accepted followers of accounts and channels, with the total of all matches. */
export async function listFollowers(db: Pick<Database, 'query'>, query: FollowerListQuery): Promise<{ total: number; rows: FollowRow[] }> {
  const { text, values } = buildFollowerList(query)
  const [page] = await db.query<{ total: number; rows: FollowRow[] }>(text, values)
  return page ?? { total: 0, rows: [] }
}

/** The statement: per actor as many rows as the page needs, in index order. */
export function buildFollowerList(query: FollowerListQuery): { text: string; values: unknown[] } {
  const { of, start, count, sort, search } = query
  const direction = sort.descending ? 'desc' : 'asc'
  const joins = search ? 'join actor a on a.id = f.follower_id left join remote_host ah on ah.id = a.host_id' : ''
  const found = search ? 'and (ah.host ilike $4 or a.preferred_username ilike $4)' : ''
  const followed =
    'actorId' in of
      ? '(select $1::int as id) t'
      : `(select actor_id as id from account where id = $1
          union all select actor_id from channel where account_id = $1 and state = 'active') t`
  const followers = `from follow f ${joins} where f.target_id = t.id and f.state = 'accepted' ${found}`
  const text = `with chosen as materialized (
      select n.id, n.created_at from ${followed} cross join lateral (
        select f.id, f.created_at ${followers}
        order by f.created_at ${direction}, f.id ${direction} limit $2::bigint + $3::bigint
      ) n order by n.created_at ${direction}, n.id ${direction} limit $2 offset $3
    ), page as (
      select f.id, f.state, f.created_at, f.updated_at,
        ${actorJson('a', 'ah')} as follower, ${actorJson('b', 'bh')} as following
      from chosen join follow f on f.id = chosen.id ${ACTOR_JOINS}
    )
    select (select coalesce(sum(n.total), 0)::int from ${followed}
        cross join lateral (select count(*) as total ${followers}) n) as total,
      coalesce((select json_agg(page order by created_at ${direction}, id ${direction}) from page), '[]') as rows`
  return {
    text,
    values: ['actorId' in of ? of.actorId : of.accountId, count, start, ...(search ? [containing(search)] : [])],
  }
}

/** True if it is an accepted follow of the account or one of its channels. */
export async function followsAccount(db: Pick<Database, 'query'>, followId: number, accountId: number): Promise<boolean> {
  const rows = await db.query(
    `select from follow f where f.id = $1 and f.state = 'accepted' and (
       f.target_id = (select actor_id from account where id = $2)
       or f.target_id in (select actor_id from channel where account_id = $2))`,
    [followId, accountId],
  )
  return rows.length > 0
}

/** The relation between a local actor and a remote one named by handle (`name@host`) or host (its instance actor). */
export async function findFollowByHandle(
  db: Database,
  query: { localActorId: number; direction: 'followers' | 'following'; name: string | null; host: string },
): Promise<number | undefined> {
  const [mine, theirs] = query.direction === 'followers' ? ['target_id', 'follower_id'] : ['follower_id', 'target_id']
  const [row] = await db.query<Columns<Follow, 'id'>>(
    `select f.id from follow f join actor o on o.id = f.${theirs} join remote_host h on h.id = o.host_id
     where f.${mine} = $1 and f.state <> 'none' and h.host = lower($2)
       and case when $3::text is null then o.type = 'Application' else lower(o.preferred_username) = lower($3) end
     order by f.id limit 1`,
    [query.localActorId, query.host, query.name],
  )
  return row?.id
}

/** The follow with this ActivityPub id, or between these two actors. */
export async function findFollow(
  db: Pick<Database, 'query'>,
  query: { url: string } | { followerId: number; targetId: number },
): Promise<{ id: number; follower_id: number; target_id: number; state: string } | undefined> {
  const [row] = await db.query<Columns<Follow, 'id' | 'followerId' | 'targetId' | 'state'>>(
    'url' in query
      ? 'select id, follower_id, target_id, state from follow where url_hash = md5($1)::uuid and url = $1'
      : 'select id, follower_id, target_id, state from follow where follower_id = $1 and target_id = $2',
    'url' in query ? [query.url] : [query.followerId, query.targetId],
  )
  return row
}

/**
 * True if a Follow with this id belongs to an ended relation, so that its Undo is a no-op: it was processed here before the activity
 * `before`, and is not a request of the current relation. Some software makes a new id for the Follow in its Undo.
 */
export async function isFormerRequest(
  db: Pick<Database, 'query'>,
  request: { followId: number; url: string; before: number | null },
): Promise<boolean> {
  const [row] = await db.query<{ former: boolean }>(
    `select not ($2 = any(f.request_urls)) and exists (
       select 1 from incoming_activity i where i.activity_hash = md5($2)::uuid and i.activity_id = $2 and i.type = 'Follow'
         and (i.state = 'done' and i.subject_hash is not null or i.state = 'received' and i.id < $3::bigint)
     ) as former from follow f where f.id = $1`,
    [request.followId, request.url, request.before],
  )
  return row?.former ?? false
}
