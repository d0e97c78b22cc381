// Notifications about followers.

import { rule } from '../rule.ts'

/** Of accounts and local channels, by accounts: for their owner. Once, however often somebody follows again. */
export const newFollow = rule({
  on: ['FollowAccepted', 'FollowerAccepted'],
  type: 'newFollow',
  about: ['follow_id'],
  id: ({ followId }) => followId,
  audience: `
    select owner.user_id, f.follower_id || ' ' || f.target_id as key, f.follower_id as by_actor_id, f.id as follow_id
    from follow f join account follower on follower.actor_id = f.follower_id
      left join channel c on c.actor_id = f.target_id
      join account owner on owner.actor_id = f.target_id or owner.id = c.account_id
    where f.id = any((select $1::int[])::int[]) and f.state = 'accepted' and owner.user_id is not null`,
})
