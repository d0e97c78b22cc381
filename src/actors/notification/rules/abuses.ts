// Notifications about reports, for moderators and reporters. A moderator who mutes a reporter gets none about their reports; a decision
// reaches the reporter regardless of mutes. None of them reveals the other person.

import { isMutedFor } from '../../blocklist/index.ts'
import { RIGHT_OF_MESSAGES, rightsOfStaff } from '../rights.ts'
import { rule } from '../rule.ts'
import { staffWith } from './staff.ts'

export const abuseRules = [
  rule({
    type: 'newAbuseForModerators',
    on: ['AbuseReported'],
    about: ['abuse_id'],
    audience: `
      select s.user_id, r.id::text as key, null::int as by_actor_id, r.id as abuse_id
      from abuse r, ${staffWith(rightsOfStaff.newAbuseForModerators)} s
      where r.id = $1 and s.account_id is distinct from r.reporter_id and not ${isMutedFor('r.reporter_id', 's.account_id')}`,
    values: ({ abuseId }) => [abuseId],
  }),

  rule({
    type: 'abuseStateChange',
    on: ['AbuseDecided'],
    about: ['abuse_id'],
    // Each decision is a new notification.
    audience: `
      select a.user_id, concat_ws(' ', r.id, r.state, extract(epoch from r.updated_at)) as key, null::int as by_actor_id,
        r.id as abuse_id
      from abuse r join account a on a.id = r.reporter_id
      where r.id = $1 and r.state in ('accepted', 'rejected') and a.user_id <> $2`,
    values: ({ abuseId, byUserId }) => [abuseId, byUserId],
  }),

  rule({
    type: 'abuseNewMessage',
    on: ['AbuseMessageWritten'],
    about: ['abuse_id', 'abuse_message_id'],
    audience: `
      with written as (
        select m.id, m.abuse_id, m.account_id, m.by_moderator, r.reporter_id
        from abuse_message m join abuse r on r.id = m.abuse_id where m.id = $1
      ), to_tell as (
        select a.user_id from written join account a on a.id = reporter_id where by_moderator
        union all
        select s.user_id from written, ${staffWith(RIGHT_OF_MESSAGES)} s
        where not by_moderator and s.account_id is distinct from written.account_id
          and not ${isMutedFor('written.account_id', 's.account_id')}
      )
      select user_id, id::text as key, null::int as by_actor_id, abuse_id, id as abuse_message_id from to_tell, written`,
    values: ({ messageId }) => [messageId],
  }),
]
