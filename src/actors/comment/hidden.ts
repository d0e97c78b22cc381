// What no visitor sees, and no other server: comments that wait for approval or are of those whom the instance mutes, with all
// that answers them. One rule, as SQL for one comment and for all of a video.

import { isAnythingMuted, isMutedFor } from '../blocklist/index.ts'
import { answersTo, waits } from './comment.entity.ts'
import { commentsPolicies } from './comment.policy.ts'

const NOBODY = 'null::int'

/** Whether a comment (its id) is hidden from everybody. */
export const isHiddenFromAll = (comment: string): string => `exists (
  with recursive above as (
    select self.parent_id, self.account_id, ${waits('self')} as waits from comment self where self.id = ${comment}
    union all select p.parent_id, p.account_id, ${waits('p')} from above join comment p on p.id = above.parent_id
  ) select from above where above.waits or ${isMutedFor('above.account_id', NOBODY)})`

const mutedOf = (where: string): string =>
  `select m.id from comment m where ${where} and ${isAnythingMuted(NOBODY)} and ${isMutedFor('m.account_id', NOBODY)}`

/** The ids of the comments of a video that are. The array says that they are few: else they would not be hashed. */
export const hiddenFromAll = (video: string): string => `
  with recursive hidden as (
    select unnest(array(select w.id from comment w where w.video_id = ${video} and ${waits('w')}
      union all ${mutedOf(`m.video_id = ${video}`)})) as id
    union select answer.id from hidden, ${answersTo('hidden.id')} answer
  ) select id from hidden`

/** The ids of the answers to a comment that are, when it is not. */
export const hiddenAnswers = (comment: string): string =>
  `select w.id from comment w where w.parent_id = ${comment} and ${waits('w')}
   union all ${mutedOf(`m.parent_id = ${comment}`)}`

/** Whether a video shows comments: without them, it shows none of those that it had. */
export const showsComments = (video: string): string => `${video}.comments_policy <> ${commentsPolicies.disabled}`
