// Reads about users.

import type { Columns, Database, InJson } from '../../platform/database/index.ts'
import type { Actor } from '../actor/actor.entity.ts'
import { type ActorImageRow, actorImageTypes, imagesOf } from '../actor/index.ts'
import type { Channel } from '../channel/channel.entity.ts'
import { type NotificationSettings, notificationSettingsOf } from '../notification-setting/index.ts'
import { type Playlist, playlistTypes } from '../playlist/playlist.entity.ts'
import type { User } from './user.entity.ts'

/** A user with account and channels. */
export interface UserRow
  extends Columns<User, 'id' | 'username' | 'email' | 'emailVerified' | 'role' | 'adminFlags' | 'videoQuota' | 'videoQuotaDaily'>,
    Columns<User, 'pendingEmail' | 'emailPublic' | 'theme' | 'nsfwPolicy' | 'p2pEnabled' | 'videosHistoryEnabled'>,
    Columns<User, 'autoPlayVideo' | 'autoPlayNextVideo' | 'autoPlayNextVideoPlaylist' | 'videoLanguages'>,
    Columns<User, 'noInstanceConfigWarningModal' | 'noWelcomeModal' | 'noAccountSetupWarningModal' | 'pluginAuth' | 'blocked'>,
    Columns<User, 'blockedReason' | 'lastLoginAt' | 'createdAt'> {
  two_factor_enabled: boolean
  account: ActorSummaryRow
  channels: (ActorSummaryRow & Columns<Channel, 'support'> & { banners: ActorImageRow[] })[]
  /** Null for a user who never changed them. */
  notification_settings: NotificationSettings | null
}

/** The user's own view. */
export interface MeRow extends UserRow {
  special_playlists: Columns<Playlist, 'id' | 'name' | 'type'>[]
}

export interface ActorSummaryRow
  extends InJson<Columns<Actor, 'url' | 'followersCount' | 'followingCount' | 'createdAt'>>,
    InJson<Columns<Channel, 'id' | 'name' | 'description' | 'updatedAt'>> {
  username: string
  avatars: ActorImageRow[]
}

/** The user with account and channels, in one statement. */
export async function findMe(db: Database, userId: number): Promise<MeRow | undefined> {
  const [row] = await db.query<MeRow>(
    `select ${userColumns()}, ${userChannels()},
       (select coalesce(json_agg(json_build_object('id', l.id, 'name', l.name, 'type', l.type) order by l.id), '[]')
        from playlist l where l.account_id = a.id and l.type <> ${playlistTypes.regular}) as special_playlists
     from users u ${USER_JOINS} where u.id = $1`,
    [userId],
  )
  return row
}

export const USER_JOINS = 'join account a on a.user_id = u.id join actor aa on aa.id = a.actor_id'

/** The user (`u`) with the account, as joined by `USER_JOINS`. */
export const userColumns = (): string =>
  `u.id, u.username, u.email, u.email_verified, u.role, u.admin_flags, u.video_quota, u.video_quota_daily,
   u.pending_email, u.email_public, u.theme, u.nsfw_policy, u.p2p_enabled, u.videos_history_enabled, u.auto_play_video,
   u.auto_play_next_video, u.auto_play_next_video_playlist, u.video_languages, u.no_instance_config_warning_modal,
   u.no_welcome_modal, u.no_account_setup_warning_modal, u.plugin_auth, u.blocked, u.blocked_reason, u.last_login_at,
   u.created_at, ${notificationSettingsOf('u')} as notification_settings,
   exists (select 1 from two_factor t where t.user_id = u.id and t.state = 'on') as two_factor_enabled,
   ${summary('a', 'aa')} as account`

export const userChannels = (): string =>
  `(select coalesce(json_agg(${summary('c', 'ca')}::jsonb || jsonb_build_object('support', c.support,
      'banners', ${imagesOf('ca', actorImageTypes.banner)}) order by c.id), '[]')
    from channel c join actor ca on ca.id = c.actor_id where c.account_id = a.id and c.state = 'active') as channels`

const summary = (noun: string, actor: string): string =>
  `jsonb_build_object('id', ${noun}.id, 'url', ${actor}.url, 'username', ${actor}.preferred_username, 'name', ${noun}.name,
     'description', ${noun}.description, 'followers_count', ${actor}.followers_count,
     'following_count', ${actor}.following_count, 'created_at', ${actor}.created_at, 'updated_at', ${noun}.updated_at,
     'avatars', ${imagesOf(actor, actorImageTypes.avatar)})`

/** Bytes of the user's videos, and those added in the last 24 hours, including replacements. */
export async function quotaUsed(db: Pick<Database, 'query'>, userId: number): Promise<{ total: number; daily: number }> {
  const [row] = await db.query<{ total: number; daily: number }>(
    `with mine as (
       select v.id, greatest(v.created_at, s.created_at) as added_at,
         case when s.kept_filename is null then 0 else s.size end as kept
       from video v join channel c on c.id = v.channel_id join account a on a.id = c.account_id
         left join video_source s on s.video_id = v.id
       where a.user_id = $1
     ), sizes as (
       select m.added_at, m.kept, f.files, f.outdated from mine m cross join lateral (
         select coalesce(sum(f.size), 0) as files, coalesce(sum(f.size) filter (where f.outdated), 0) as outdated
         from video_file f where f.video_id = m.id) f
     ) select coalesce(sum(kept + files), 0)::bigint as total,
         coalesce(sum(kept + files - outdated) filter (where added_at > now() - interval '24 hours'), 0)::bigint as daily
       from sizes`,
    [userId],
  )
  return row ?? { total: 0, daily: 0 }
}
