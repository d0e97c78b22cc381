// Conditions of all notifications, as SQL. `me` is the account of the notified user `u`; `m` and `v` the comment and the video of the
// notification, if any, and `vc` the channel of the video.

import { isActorMutedFor } from '../blocklist/index.ts'
import { isHiddenFromAll } from '../comment/index.ts'
import { videoPrivacies } from '../video/index.ts'
import { hasRightSql } from './rule.ts'

const { public: PUBLIC, unlisted: UNLISTED, internal: INTERNAL } = videoPrivacies

/** `ids`: SQL for the ids of the video and the comment, or null. */
export const subjectJoins = (ids: { videoId: string; commentId: string }): string => `
  left join comment m on m.id = ${ids.commentId}
  left join video v on v.id = coalesce(${ids.videoId}, m.video_id)
  left join channel vc on vc.id = v.channel_id`

/** Excludes users' own actions, and actors whom they or the instance mute. `by`: SQL for an actor, or null. */
export const isNotMuted = (by: string): string =>
  `(${by} is null or (${by} is distinct from me.actor_id and not ${isActorMutedFor(by, 'me.id')}))`

/** Excludes videos and comments that the user may not see. */
export const IS_VISIBLE = `
  (v.id is null or (v.state <> 'removed' and (vc.account_id = me.id or ${hasRightSql('u', 'SEE_ALL_VIDEOS')}
    or (not v.blocked and v.privacy in (${PUBLIC}, ${UNLISTED}, ${INTERNAL})))))
  and (m.id is null or (m.deleted_at is null and (vc.account_id = me.id or ${hasRightSql('u', 'SEE_ALL_COMMENTS')}
    or not ${isHiddenFromAll('m.id')})))`
