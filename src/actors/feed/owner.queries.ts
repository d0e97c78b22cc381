// The owner of a feed: an account, a channel, or the subscribed user. One statement each.

import type { Database } from '../../platform/database/index.ts'
import { LARGEST_ID, sha256 } from '../../platform/ids.ts'
import { type ActorProfile, accountProfile, channelProfile } from '../actor/index.ts'
import type { UserRole } from '../user/index.ts'

/** By row id, or by name; `host` is null for a local one. */
export type FeedOwnerKey = { id: number } | { name: string; host: string | null }

type Reader = Pick<Database, 'query'>

/** The account, local or remote. */
export async function findFeedAccount(db: Reader, key: FeedOwnerKey): Promise<ActorProfile | undefined> {
  const { where, values } = keyed(key, 'a.id')
  const [row] = await db.query<{ account: ActorProfile }>(
    `select ${accountProfile('a', 'x')} as account from account a join actor x on x.id = a.actor_id
       left join remote_host h on h.id = x.host_id
     where ${where} and x.deleted_at is null and x.type <> 'Application' order by a.id limit 1`,
    values,
  )
  return row?.account
}

/** The channel with the account that owns it. */
export async function findFeedChannel(
  db: Reader,
  key: FeedOwnerKey,
): Promise<{ channel: ActorProfile; account: ActorProfile } | undefined> {
  const { where, values } = keyed(key, 'c.id')
  const [row] = await db.query<{ channel: ActorProfile; account: ActorProfile }>(
    `select ${channelProfile('c', 'x')} as channel, ${accountProfile('a', 'o')} as account
     from channel c join actor x on x.id = c.actor_id left join remote_host h on h.id = x.host_id
       join account a on a.id = c.account_id join actor o on o.id = a.actor_id
     where ${where} and x.deleted_at is null and c.state = 'active' order by c.id limit 1`,
    values,
  )
  return row
}

export interface Subscriber {
  userId: number
  accountId: number
  actorId: number
  role: UserRole
  account: ActorProfile
}

/**
 * The user of an account, checked by the token of their private feeds. `wrong`: the token does not match, or the user is blocked; undefined
 * if there is no such account.
 */
export async function findSubscriber(
  db: Reader,
  { accountId, token }: { accountId: number; token: string },
): Promise<Subscriber | 'wrong' | undefined> {
  const [row] = await db.query<Subscriber & { isRight: boolean }>(
    `select u.id as "userId", a.id as "accountId", x.id as "actorId", u.role, ${accountProfile('a', 'x')} as account,
       t.user_id is not null and not u.blocked as "isRight"
     from account a join actor x on x.id = a.actor_id left join users u on u.id = a.user_id
       left join feed_token t on t.user_id = u.id and t.token_hash = $2
     where a.id = $1 and x.deleted_at is null and x.type <> 'Application'`,
    [accountId, sha256(token)],
  )
  if (!row) return undefined
  const { isRight, ...subscriber } = row
  return isRight === true ? subscriber : 'wrong'
}

function keyed(key: FeedOwnerKey, id: string): { where: string; values: unknown[] } {
  if ('id' in key) return { where: `${id} = $1`, values: [Math.min(key.id, LARGEST_ID)] }
  return {
    where: 'lower(x.preferred_username) = lower($1) and h.host is not distinct from lower($2)',
    values: [key.name, key.host],
  }
}
