// Notifications for administrators of the instance: followers, automatic follows, and newer versions of plugins and of the software.

import { rightsOfStaff } from '../rights.ts'
import { rule } from '../rule.ts'
import { staffWith } from './staff.ts'

export const instanceRules = [
  rule({
    type: 'newInstanceFollower',
    on: ['FollowerArrived'],
    about: ['follow_id'],
    // Once a day, however often the follow is repeated.
    audience: `
      select s.user_id, concat_ws(' ', f.follower_id, (f.updated_at at time zone 'UTC')::date) as key, null::int as by_actor_id, f.id as follow_id
      from follow f join actor t on t.id = f.target_id, ${staffWith(rightsOfStaff.newInstanceFollower)} s
      where f.id = $1 and t.type = 'Application' and t.host_id is null and f.state in ('pending', 'accepted')`,
    values: ({ followId }) => [followId],
  }),

  rule({
    type: 'autoInstanceFollowing',
    on: ['FollowedAutomatically'],
    about: ['follow_id'],
    audience: `
      select s.user_id, f.id::text as key, null::int as by_actor_id, f.id as follow_id
      from follow f, ${staffWith(rightsOfStaff.autoInstanceFollowing)} s where f.id = $1`,
    values: ({ followId }) => [followId],
  }),

  rule({
    type: 'newPluginVersion',
    on: ['NewPluginVersionReleased'],
    about: ['plugin_id'],
    audience: `
      select s.user_id, concat_ws(' ', $1::int, $2::text) as key, null::int as by_actor_id, $1::int as plugin_id
      from ${staffWith(rightsOfStaff.newPluginVersion)} s`,
    values: ({ pluginId, version }) => [pluginId, version],
  }),

  rule({
    type: 'newPeerTubeVersion',
    on: ['NewVersionReleased'],
    about: ['application_version'],
    audience: `
      select s.user_id, $1::text as key, null::int as by_actor_id, $1::text as application_version
      from ${staffWith(rightsOfStaff.newPeerTubeVersion)} s`,
    values: ({ version }) => [version],
  }),
]
