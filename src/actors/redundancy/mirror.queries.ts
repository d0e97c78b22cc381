// Candidates of a strategy, its copies, and copies that must not be held any more.

import type { Database } from '../../platform/database/index.ts'
import { mutedAccounts, mutedHosts } from '../blocklist/index.ts'
import { videoPrivacies } from '../video/index.ts'
import { LISTED_PRIVACIES } from '../video/video.entity.ts'
import type { Candidate, MirroredVideo, Strategy, StrategySettings } from './mirror-plan.ts'

type Reader = Pick<Database, 'query'>

const NOBODY = 'null::int'

/** SQL, with the local instance actor as `$1`: servers that are followed, and whose videos may be copied. */
const MIRRORED_HOSTS = `
  select h.id from remote_host h
  where h.redundancy_allowed and h.id not in (${mutedHosts(NOBODY)}) and h.id in (
    select t.host_id from follow f join actor t on t.id = f.target_id
    where f.follower_id = $1 and f.state = 'accepted' and t.host_id is not null)`

/** SQL: true if a video may be copied, apart from its server and account. */
const OPEN = `
  v.remote and v.privacy = ${videoPrivacies.public} and v.state = 'published' and not v.blocked and not v.is_live`

/** SQL: true if a channel is on such a server, and its account is not muted. */
const OF_MIRRORED = `x.host_id in (select id from hosts) and c.account_id not in (${mutedAccounts(NOBODY)})`

/** SQL: true if a video of such a server may be copied. */
const MIRRORABLE = `${OPEN} and ${OF_MIRRORED}`

const OF_CHANNEL = 'join channel c on c.id = v.channel_id join actor x on x.id = c.actor_id'

/**
 * SQL for the order of each strategy: that of an index of `video` (for listed videos, `privacy in (1, 4)`), which `merit` expresses in
 * numbers.
 */
const RANKS: Record<Strategy, { order: string; merit: string; isWorthIt: string }> = {
  'most-views': { order: 'v.views desc, v.id', merit: 'array[v.views, -v.id]', isWorthIt: 'true' },
  trending: {
    order: 'v.trending desc, v.views desc, v.id',
    merit: 'array[v.trending, v.views, -v.id]',
    isWorthIt: 'v.trending > 0',
  },
  'recently-added': {
    order: 'v.published_at desc, v.id desc',
    merit: 'array[extract(epoch from v.published_at), v.id]',
    isWorthIt: 'true',
  },
}

/**
 * The best videos for a strategy without a copy here, of at most `maxBytes`: the size of what would be copied, which is the playlist, or
 * the web videos of a video without one. One statement.
 */
export async function findCandidates(
  db: Reader,
  options: { instanceActorId: number; settings: StrategySettings; maxBytes: number; limit: number },
): Promise<Candidate[]> {
  const { instanceActorId, settings, maxBytes, limit } = options
  const { order, merit, isWorthIt } = RANKS[settings.strategy]
  return await db.query<Candidate>(
    // `is true`, so that channels are looked up in a hash table: a join would scan them for each video, as the planner does not know how
    // early the best ones come.
    `with hosts as materialized (${MIRRORED_HOSTS}), channels as materialized (
       select c.id from channel c join actor x on x.id = c.actor_id where ${OF_MIRRORED})
     select v.id as "videoId", f.bytes::float8 as size, ${merit}::float8[] as merit
     from video v left join streaming_playlist p on p.video_id = v.id and p.playlist_url is not null
       cross join lateral (
         select sum(f.size) as bytes, min(f.size) as least from video_file f
         where f.video_id = v.id and f.streaming_playlist_id is not distinct from p.id
           and (p.id is not null or f.file_url is not null)) f
     where ${OPEN} and (v.channel_id in (select id from channels)) is true and v.privacy in ${LISTED_PRIVACIES} and ${isWorthIt} and v.views >= $2 and f.least > 0 and f.bytes <= $3
       and not exists (select 1 from redundancy r where r.video_id = v.id and r.actor_id = $1)
     order by ${order} limit $4`,
    [instanceActorId, settings.min_views ?? 0, maxBytes, limit],
  )
}

/** The copies of a strategy, by video. One statement. */
export async function findCopies(
  db: Reader,
  { instanceActorId, settings }: { instanceActorId: number; settings: StrategySettings },
): Promise<MirroredVideo[]> {
  const { merit, isWorthIt } = RANKS[settings.strategy]
  return await db.query<MirroredVideo>(
    `with hosts as materialized (${MIRRORED_HOSTS}), held as (
       select r.video_id, sum(r.size) as size, min(r.created_at) as created_at, min(r.expires_on) as expires_on,
         bool_or(r.state in ('wanted', 'downloading', 'stored')) as comes, bool_or(r.state = 'announced') as is_here
       from redundancy r where r.strategy = $2 and r.path is not null and r.actor_id = $1 and r.state <> 'failed'
       group by r.video_id
     )
     select v.id as "videoId", d.size::float8 as size, ${merit}::float8[] as merit,
       case when d.comes then 'coming' when d.is_here then 'here' else 'leaving' end as phase,
       (${MIRRORABLE} and ${isWorthIt} and v.views >= $3) as "isDeserving",
       d.created_at as "createdAt", d.expires_on as "expiresOn"
     from held d join video v on v.id = d.video_id ${OF_CHANNEL}`,
    [instanceActorId, settings.strategy, settings.min_views ?? 0],
  )
}

/** The copies of a strategy of these videos that can be given up or extended. */
export const findCopiesOf = (
  db: Reader,
  { strategy, videoIds }: { strategy: string; videoIds: readonly number[] },
): Promise<{ id: number; videoId: number }[]> =>
  db.query(
    `select id, video_id as "videoId" from redundancy
     where strategy = $1 and path is not null and video_id = any($2) and state = 'announced' order by id`,
    [strategy, videoIds],
  )

/**
 * Copies that must not be held any more: copies of strategies whose servers are no longer followed, allowed or unmuted, and copies of
 * videos that are no longer public.
 */
export const findInvalidCopies = (
  db: Reader,
  { instanceActorId, after, limit }: { instanceActorId: number; after: number; limit: number },
): Promise<{ id: number }[]> =>
  db.query(
    `with hosts as materialized (${MIRRORED_HOSTS})
     select r.id from redundancy r join video v on v.id = r.video_id ${OF_CHANNEL}
     where r.actor_id = $1 and r.id > $3 and r.path is not null and r.state <> 'expiring' and case when r.strategy = 'manual'
         then v.blocked or v.state = 'removed' or not (v.privacy in (${videoPrivacies.public}, ${videoPrivacies.unlisted}))
         else not (${MIRRORABLE}) end
     order by r.id limit $2`,
    [instanceActorId, limit, after],
  )
