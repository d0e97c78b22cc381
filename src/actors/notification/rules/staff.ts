// Selects the staff to notify, by right.

import type { UserRight } from '../../user/index.ts'
import { hasRightSql } from '../rule.ts'

/**
 * SQL: users with a right, as rows of `user_id` and `account_id`. Such notifications name no acting actor, so that nobody's mutes suppress
 * them.
 */
export const staffWith = (right: UserRight): string =>
  // The state is listed for the index.
  `(select su.id as user_id, sa.id as account_id from users su left join account sa on sa.user_id = su.id
    where su.state = 'active' and ${hasRightSql('su', right)})`
