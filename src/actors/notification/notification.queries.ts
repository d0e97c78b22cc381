// Reads of notifications: the list of a user and single ones, as rows for views. One statement each.

import type { Columns, Database, InJson } from '../../platform/database/index.ts'
import { type ActorImageRow, actorImageTypes, imagesOf } from '../actor/index.ts'
import type { Video } from '../video/video.entity.ts'
import type { VideoImport } from '../video-import/video-import.entity.ts'
import { IS_VISIBLE, isNotMuted, subjectJoins } from './conditions.ts'
import type { Notification } from './notification.entity.ts'
import { IS_STILL_THEIRS } from './rights.ts'
import { notificationTypes } from './types.ts'

export interface NotificationListQuery {
  userId: number
  unread?: boolean | undefined
  /** Numbers of the contract. */
  types?: readonly number[] | undefined
  start: number
  count: number
  sort: { by: 'createdAt' | 'read'; descending: boolean }
}

export interface ActorInfoRow {
  /** Id of the account or channel; of the actor for an instance. */
  id: number
  username: string
  name: string
  /** Null for a local one. */
  host: string | null
  avatars: ActorImageRow[]
}

export type VideoInfoRow = Columns<Video, 'id' | 'uuid' | 'name'>

export interface NotificationRow
  extends InJson<Columns<typeof Notification, 'id' | 'type' | 'read' | 'createdAt' | 'updatedAt' | 'applicationVersion'>> {
  video: (VideoInfoRow & { channel: ActorInfoRow }) | null
  comment: { id: number; thread_id: number; held: boolean; account: ActorInfoRow | null; video: VideoInfoRow } | null
  abuse: {
    id: number
    state: 'pending' | 'accepted' | 'rejected'
    video: VideoInfoRow | null
    comment: { thread_id: number; video: VideoInfoRow } | null
    account: ActorInfoRow | null
    /** Its user is the reporter. */
    is_own: boolean
  } | null
  block: { id: number; video: VideoInfoRow } | null
  import: ({ video: VideoInfoRow | null } & Columns<VideoImport, 'id' | 'targetUrl' | 'magnetUri' | 'torrentName'>) | null
  follow: {
    id: number
    state: string
    follower: ActorInfoRow
    following: ActorInfoRow & { type: 'account' | 'channel' | 'instance' }
  } | null
  account: ActorInfoRow | null
  registration: { id: number; username: string } | null
  plugin: { npm_name: string; latest_version: string | null } | null
  caption: { id: number; language: string; video: VideoInfoRow } | null
}

type Reader = Pick<Database, 'query'>

/** `name`: SQL for the name of the actor. */
const actorInfo = (id: string, name: string, actor: string): string =>
  `jsonb_build_object('id', ${id}, 'username', ${actor}.preferred_username, 'name', ${name},
    'host', (select h.host from remote_host h where h.id = ${actor}.host_id),
    'avatars', ${imagesOf(actor, actorImageTypes.avatar)})`

const accountInfo = (accountId: string): string =>
  `(select ${actorInfo('a.id', 'a.name', 'x')} from account a join actor x on x.id = a.actor_id where a.id = ${accountId})`

const channelInfo = (channelId: string): string =>
  `(select ${actorInfo('c.id', 'c.name', 'x')} from channel c join actor x on x.id = c.actor_id where c.id = ${channelId})`

/** An actor of any kind. Instance actors have accounts as well. */
const anyActor = (actorId: string): string => `(
  select ${actorInfo('coalesce(a.id, c.id, x.id)', 'coalesce(a.name, c.name, x.preferred_username)', 'x')}
    || jsonb_build_object('type',
      case when x.type = 'Application' then 'instance' when c.id is not null then 'channel' else 'account' end)
  from actor x left join account a on a.actor_id = x.id left join channel c on c.actor_id = x.id where x.id = ${actorId})`

const videoInfo = (video: string): string => `jsonb_build_object('id', ${video}.id, 'uuid', ${video}.uuid, 'name', ${video}.name)`

/** A reported object may be removed: the report contains a copy of its facts. */
const reported = (videoId: string): string => `jsonb_build_object('id', ${videoId}, 'uuid', r.video_uuid, 'name', r.video_name)`

const ABUSE = `(select jsonb_build_object('id', r.id, 'state', r.state, 'is_own', r.reporter_id is not distinct from (select id from account where user_id = n.user_id),
    'video', case when r.kind = 'video' then ${reported('r.reported_id')} end,
    'comment', case when r.kind = 'comment' then
      jsonb_build_object('thread_id', r.thread_id, 'video', ${reported('r.commented_video_id')}) end,
    'account', case when r.kind = 'account' then coalesce(${accountInfo('r.reportee_id')}, jsonb_build_object(
      'id', r.reported_id, 'username', r.reportee_name, 'name', r.reportee_name,
      'host', substring(r.reportee_url from '^https?://([^/]+)'), 'avatars', '[]'::jsonb)) end)
  from abuse r where r.id = n.abuse_id)`

const COLUMNS = `n.id, n.type, n.read, n.created_at, n.updated_at, n.application_version,
  (select jsonb_build_object('npm_name', p.npm_name, 'latest_version', p.latest_version) from plugin p where p.id = n.plugin_id) as plugin,
  case when n.video_id is not null then
    ${videoInfo('v')} || jsonb_build_object('channel', ${channelInfo('v.channel_id')}) end as video,
  case when m.id is not null then jsonb_build_object('id', m.id, 'thread_id', coalesce(m.thread_id, m.id),
    'held', m.held_for_review, 'account', ${accountInfo('m.account_id')}, 'video', ${videoInfo('v')}) end as comment,
  case when n.abuse_id is not null then ${ABUSE} end as abuse,
  case when k.id is not null then jsonb_build_object('id', k.id, 'language', k.language, 'video', ${videoInfo('v')}) end as caption,
  case when b.id is not null then jsonb_build_object('id', b.id, 'video', ${videoInfo('v')}) end as block,
  case when n.video_import_id is not null then (
    select jsonb_build_object('id', i.id, 'target_url', i.target_url, 'magnet_uri', i.magnet_uri,
      'torrent_name', i.torrent_name, 'video', case when iv.id is not null then ${videoInfo('iv')} end)
    from video_import i left join video iv on iv.id = i.video_id and iv.state <> 'removed'
    where i.id = n.video_import_id) end as import,
  case when n.follow_id is not null then (
    select jsonb_build_object('id', f.id, 'state', case f.state when 'expired' then 'rejected' else f.state end, 'follower', ${anyActor('f.follower_id')},
      'following', ${anyActor('f.target_id')}) from follow f where f.id = n.follow_id) end as follow,
  case when n.account_id is not null then ${accountInfo('n.account_id')} end as account,
  case when n.registration_id is not null then (
    select jsonb_build_object('id', g.id, 'username', g.username) from registration g
    where g.id = n.registration_id) end as registration`

/** For a notification `n`. */
export const JOINS = `left join video_block b on b.id = n.video_block_id left join video_caption k on k.id = n.video_caption_id
  ${subjectJoins({ videoId: 'coalesce(n.video_id, b.video_id, k.video_id)', commentId: 'n.comment_id' })}`

/** They stay after the end of the follow, so that they are not stored again. */
const OF_FOLLOWS = [notificationTypes.newFollow, notificationTypes.newInstanceFollower, notificationTypes.autoInstanceFollowing]

/** A notification is shown only while its user may see and moderate its object, and does not mute its actor. */
export const IS_ACCESSIBLE = `(n.follow_id is not null or n.type not in (${OF_FOLLOWS.join(', ')}))
  and ${isNotMuted('n.by_actor_id')} and ${IS_VISIBLE} and (${IS_STILL_THEIRS})`

const IS_SHOWN = `n.on_web and ${IS_ACCESSIBLE}`

/** A page of the notifications of a user, with the total of all matches. */
export async function listNotifications(
  db: Reader,
  { userId, unread, types, start, count, sort }: NotificationListQuery,
): Promise<{ total: number; rows: NotificationRow[] }> {
  const direction = sort.descending ? 'desc' : 'asc'
  // The newest comes first, among read ones and among unread ones.
  const order = sort.by === 'read' ? `read ${direction}, id desc` : `created_at ${direction}, id ${direction}`
  const [page] = await db.query<{ total: number; rows: NotificationRow[] }>(
    `with matching as materialized (
       select n.id, n.read, n.created_at from users u left join account me on me.user_id = u.id
         join notification n on n.user_id = u.id ${JOINS}
       where u.id = $1 and n.user_id = $1 and ${IS_SHOWN} ${unread === undefined ? '' : `and n.read = ${!unread}`}
         and ($2::smallint[] is null or n.type = any($2))
     ), page as (select * from matching order by ${order} limit $3 offset $4),
     shown as (select ${COLUMNS} from page join notification n on n.id = page.id ${JOINS})
     select (select count(*)::int from matching) as total,
       coalesce((select jsonb_agg(to_jsonb(shown) order by ${order}) from shown), '[]') as rows`,
    [userId, types ?? null, count, start],
  )
  return page ?? { total: 0, rows: [] }
}

/** A notification that its user may see now, for a push. Undefined if it is not theirs, removed, or hidden. */
export async function findNotification(
  db: Reader,
  { userId, notificationId }: { userId: number; notificationId: number },
): Promise<NotificationRow | undefined> {
  const [row] = await db.query<NotificationRow>(
    `select ${COLUMNS} from users u left join account me on me.user_id = u.id
       join notification n on n.user_id = u.id ${JOINS}
     where u.id = $1 and u.state = 'active' and n.id = $2 and ${IS_SHOWN}`,
    [userId, notificationId],
  )
  return row
}
