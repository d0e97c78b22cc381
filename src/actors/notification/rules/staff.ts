// Selects the staff to notify, by right.

import type { UserRight } from '../../user/index.ts'
import { hasRightSql } from '../rule.ts'

/**
 * SQL: those who have a right, as rows of `user_id` and `account_id`. What they are told of is the server's business: no actor is said
 * whose doing it is, so that nobody's own mutes keep it from them.
 */
export const staffWith = (right: UserRight): string =>
  // The state is named for the index.
  `(select su.id as user_id, sa.id as account_id from users su left join account sa on sa.user_id = su.id
    where su.state = 'active' and ${hasRightSql('su', right)})`
