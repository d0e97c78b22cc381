// The content of a mail: the facts of its notifications, as far as they are still relevant. One statement.

import type { Columns, Database } from '../../platform/database/index.ts'
import { toShortUuid } from '../../platform/ids.ts'
import { predefinedReasonNames } from '../abuse/index.ts'
import type { Mailed, Notice } from '../mail/index.ts'
import type { User } from '../user/user.entity.ts'
import { languageLabels } from '../video/index.ts'
import type { Video } from '../video/video.entity.ts'
import { IS_ACCESSIBLE, JOINS } from './notification.queries.ts'
import { channelBits, channelBitsOf, type NotificationType, notificationTypes, settingOf } from './types.ts'

/** Conditions that may become false before the mail. */
const STILL: Partial<Record<NotificationType, string>> = {
  newVideoFromSubscription: "v.state = 'published'",
  newLiveFromSubscription: "v.state = 'published' and v.is_live",
  // Comments that are pending review are shown only to the owner.
  commentMention: 'not m.held_for_review',
  unblacklistOnMyVideo: 'not v.blocked',
  // The last notification contains the outcome of the report.
  abuseStateChange: `not exists (
    select from notification o
    where o.abuse_id = n.abuse_id and o.user_id = n.user_id and o.type = n.type and o.id > n.id)`,
  newUserRegistrationRequest: `exists (
    select from registration g where g.id = n.registration_id and g.state in ('requested', 'verified'))`,
}

/** `$2` is the host of this server. */
const handle = (actor: string): string =>
  `${actor}.preferred_username || '@' || coalesce((select h.host from remote_host h where h.id = ${actor}.host_id), $2)`

/** An instance is named by its host. */
const named = (actorId: string): string => `(
  select case when x.type = 'Application'
      then jsonb_build_object('name', host.host, 'handle', host.host)
      else jsonb_build_object('name', coalesce(a.name, c.name, x.preferred_username), 'handle', ${handle('x')},
        'isChannel', c.id is not null) end
  from actor x left join account a on a.actor_id = x.id left join channel c on c.actor_id = x.id,
    lateral (select coalesce((select h.host from remote_host h where h.id = x.host_id), $2) as host) host
  where x.id = ${actorId})`

const accountNamed = (accountId: string): string => named(`(select actor_id from account where id = ${accountId})`)

const videoOf = (video: string): string => `jsonb_build_object('uuid', ${video}.uuid, 'name', ${video}.name)`

/** As stored with the report: `name@host`. */
const kept = (who: 'reporter' | 'reportee'): string =>
  `r.${who}_name || coalesce('@' || substring(r.${who}_url from '^https?://([^/]+)'), '')`

const FACTS = `
  case when v.id is not null then ${videoOf('v')} end as video,
  case when v.id is not null then ${named('vc.actor_id')} end as channel,
  case when m.id is not null then jsonb_build_object('text', m.text, 'threadId', coalesce(m.thread_id, m.id),
    'isPendingReview', m.held_for_review, 'author', ${accountNamed('m.account_id')}) end as comment,
  b.reason,
  (select jsonb_build_object('id', r.id, 'kind', r.kind, 'state', r.state, 'reporter', ${kept('reporter')},
     'reported', ${kept('reportee')}, 'videoName', r.video_name, 'reason', r.reason,
     'predefinedReasons', r.predefined_reasons, 'isOwn', r.reporter_id is not distinct from me.id)
   from abuse r
   where r.id = coalesce(n.abuse_id, (select t.abuse_id from abuse_message t where t.id = n.abuse_message_id))) as report,
  (select jsonb_build_object('text', t.message, 'author', ${accountNamed('t.account_id')})
   from abuse_message t where t.id = n.abuse_message_id) as message,
  (select jsonb_build_object('source', coalesce(i.target_url, i.torrent_name, i.magnet_uri),
     'video', case when iv.id is not null then ${videoOf('iv')} end)
   from video_import i left join video iv on iv.id = i.video_id and iv.state <> 'removed'
   where i.id = n.video_import_id) as import,
  (select jsonb_build_object('follower', ${named('f.follower_id')}, 'following', ${named('f.target_id')},
     'isPending', f.state = 'pending') from follow f where f.id = n.follow_id) as follow,
  case when n.account_id is not null then ${accountNamed('n.account_id')} end as account,
  (select jsonb_build_object('username', g.username, 'reason', g.registration_reason)
   from registration g where g.id = n.registration_id) as registration,
  n.application_version as version, k.language as captioned,
  (select jsonb_build_object('npmName', p.npm_name, 'version', p.latest_version) from plugin p where p.id = n.plugin_id) as plugin`

interface NamedRow {
  name: string
  handle: string
  isChannel?: boolean
}

type VideoRow = Columns<Video, 'uuid' | 'name'>

interface FactsRow {
  video: VideoRow | null
  channel: NamedRow | null
  /** Without an author if the account is removed. */
  comment: { text: string; threadId: number; isPendingReview: boolean; author: NamedRow | null } | null
  reason: string | null
  report: {
    id: number
    kind: 'video' | 'comment' | 'account'
    state: string
    reporter: string
    reported: string
    videoName: string | null
    reason: string
    predefinedReasons: number[]
    isOwn: boolean
  } | null
  message: { text: string; author: NamedRow | null } | null
  import: { source: string; video: VideoRow | null } | null
  follow: { follower: NamedRow; following: NamedRow; isPending: boolean } | null
  account: NamedRow | null
  registration: { username: string; reason: string } | null
  version: string | null
  /** The language of the captions. */
  captioned: string | null
  plugin: { npmName: string; version: string | null } | null
}

const typeOf = new Map<number, NotificationType>(Object.entries(notificationTypes).map(([name, type]) => [type, name as NotificationType]))

/**
 * The content of a job's mail, with the facts of at most `atMost` notifications, oldest first. Undefined if nothing is left to send, or
 * mails are disabled. `verifiedOnly`: only to users with a verified address.
 */
export async function readMailed(
  db: Pick<Database, 'query'>,
  of: { userId: number; type: number; job: number; host: string; atMost: number; verifiedOnly: boolean },
): Promise<Mailed | undefined> {
  const type = typeOf.get(of.type)
  if (!type) return undefined
  const conditions = [IS_ACCESSIBLE, `${channelBitsOf(type, 's')} & ${channelBits.mail} > 0`, STILL[type] ?? 'true']
  const [found] = await db.query<Columns<User, 'email' | 'language'> & { total: number; rows: FactsRow[] }>(
    `with carried as materialized (
       select n.id from users u left join account me on me.user_id = u.id
         left join notification_setting s on s.user_id = u.id
         join notification n on n.mail_job = $3 and n.mailed_at is null and n.user_id = u.id ${JOINS}
       where u.id = $1 and u.state = 'active' and not ($5 and u.email_verified is false)
         and ${conditions.join(' and ')}
     ), listed as (
       select n.id, ${FACTS} from (select id from carried order by id limit $4) first
         join notification n on n.id = first.id join users u on u.id = n.user_id
         left join account me on me.user_id = u.id ${JOINS}
     )
     select u.email, u.language, (select count(*)::int from carried) as total,
       (select jsonb_agg(to_jsonb(listed) order by id) from listed) as rows
     from users u where u.id = $1 and exists (select from carried)`,
    [of.userId, of.host, of.job, of.atMost, of.verifiedOnly],
  )
  if (!found) return undefined
  const notices = found.rows.flatMap((row) => noticeOf(type, row) ?? [])
  const missing = found.rows.length - notices.length
  if (notices.length === 0) return undefined
  return {
    userId: of.userId,
    kind: type,
    setting: settingOf(type),
    to: found.email,
    language: found.language,
    notices,
    total: found.total - missing,
  }
}

/** Undefined if its object is removed. */
function noticeOf(kind: NotificationType, row: FactsRow): Notice | undefined {
  const { channel, comment, report, message, follow, account, registration, version, plugin, captioned } = row
  const video = row.video && shortened(row.video)
  switch (kind) {
    case 'newVideoFromSubscription':
    case 'newLiveFromSubscription':
    case 'videoAutoBlacklistForModerators':
      return video && channel ? { kind, video, channel } : undefined
    case 'newCommentOnMyVideo':
    case 'commentMention':
      if (!video || !comment?.author) return undefined
      return { kind, video, ...comment, author: comment.author }
    case 'newAbuseForModerators':
      return report ? { kind, report: { ...report, predefinedReasons: inWords(report.predefinedReasons) } } : undefined
    case 'abuseStateChange':
      return report && report.state !== 'pending' ? { kind, report, isAccepted: report.state === 'accepted' } : undefined
    case 'abuseNewMessage':
      if (!report || !message) return undefined
      return { kind, report, author: report.isOwn ? null : (message.author?.name ?? 'Somebody'), text: message.text }
    case 'blacklistOnMyVideo':
      return video ? { kind, video, reason: row.reason } : undefined
    case 'unblacklistOnMyVideo':
    case 'myVideoPublished':
    case 'myVideoStudioEditionFinished':
      return video ? { kind, video } : undefined
    case 'myVideoImportSuccess':
      return row.import?.video ? { kind, source: row.import.source, video: shortened(row.import.video) } : undefined
    case 'myVideoImportError':
      return row.import ? { kind, source: row.import.source } : undefined
    case 'newUserRegistration':
      return account ? { kind, user: account } : undefined
    case 'newUserRegistrationRequest':
      return registration ? { kind, ...registration } : undefined
    case 'newFollow':
      if (!follow) return undefined
      return {
        kind,
        follower: follow.follower,
        following: { ...follow.following, isChannel: !!follow.following.isChannel },
      }
    case 'newInstanceFollower':
      return follow ? { kind, follower: follow.follower, isPending: follow.isPending } : undefined
    case 'autoInstanceFollowing':
      return follow ? { kind, following: follow.following } : undefined
    case 'myVideoTranscriptionGenerated':
      return video && captioned !== null ? { kind, video, language: languageLabels[captioned] ?? captioned } : undefined
    case 'newPluginVersion':
      return plugin?.version ? { kind, npmName: plugin.npmName, version: plugin.version } : undefined
    case 'newPeerTubeVersion':
      return version === null ? undefined : { kind, version }
  }
}

const shortened = ({ uuid, name }: VideoRow) => ({ shortUuid: toShortUuid(uuid), name })

/** `violentOrRepulsive` → `violent or repulsive`. */
const inWords = (reasons: number[]): string[] =>
  predefinedReasonNames(reasons).map((name) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))
