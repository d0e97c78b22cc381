// Comments that no visitor and no other server sees: those pending review, those of actors whom the instance mutes, and all replies to
// them. One rule, as SQL for one comment and for all of a video.

import { isAnythingMuted, isMutedFor } from '../blocklist/index.ts'
import { answersTo, waits } from './comment.entity.ts'
import { commentsPolicies } from './comment.policy.ts'

const NOBODY = 'null::int'

/** SQL: true if a comment (its id) is hidden from everybody. */
export const isHiddenFromAll = (comment: string): string => `exists (
  with recursive above as (
    select self.parent_id, self.account_id, ${waits('self')} as waits from comment self where self.id = ${comment}
    union all select p.parent_id, p.account_id, ${waits('p')} from above join comment p on p.id = above.parent_id
  ) select from above where above.waits or ${isMutedFor('above.account_id', NOBODY)})`

const mutedOf = (where: string): string =>
  `select m.id from comment m where ${where} and ${isAnythingMuted(NOBODY)} and ${isMutedFor('m.account_id', NOBODY)}`

/** SQL: the ids of the hidden comments of a video. The array makes the planner expect few rows and hash them. */
export const hiddenFromAll = (video: string): string => `
  with recursive hidden as (
    select unnest(array(select w.id from comment w where w.video_id = ${video} and ${waits('w')}
      union all ${mutedOf(`m.video_id = ${video}`)})) as id
    union select answer.id from hidden, ${answersTo('hidden.id')} answer
  ) select id from hidden`

/** SQL: the ids of the hidden replies to a visible comment. */
export const hiddenAnswers = (comment: string): string =>
  `select w.id from comment w where w.parent_id = ${comment} and ${waits('w')}
   union all ${mutedOf(`m.parent_id = ${comment}`)}`

/** SQL: true if a video shows comments. With comments disabled, existing ones are hidden too. */
export const showsComments = (video: string): string => `${video}.comments_policy <> ${commentsPolicies.disabled}`
