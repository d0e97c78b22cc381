// Reads of registrations.

import { type Columns, containing, type Database, type MaybeInJson } from '../../platform/database/index.ts'
import type { Registration } from './registration.entity.ts'

export interface RegistrationRow
  extends Columns<Registration, 'id' | 'state' | 'context' | 'username' | 'email' | 'accountDisplayName' | 'channelHandle'>,
    Columns<Registration, 'channelDisplayName' | 'registrationReason' | 'moderationResponse' | 'userId'>,
    MaybeInJson<Columns<Registration, 'createdAt' | 'updatedAt'>> {
  /** `UserRegistrationState` of the contract: 1 pending, 2 rejected, 3 accepted. */
  state_id: number
}

export interface RegistrationListQuery {
  start: number
  count: number
  sort: { column: 'createdAt' | 'state'; descending: boolean }
  /** In the name, the address or the name of the channel. */
  search?: string | undefined
}

/** The expression of the index. */
const STATE_ID = "(case state when 'rejected' then 2 when 'accepted' then 3 else 1 end)"

const COLUMNS = `id, state, ${STATE_ID} as state_id, context, username, email, account_display_name, channel_handle,
  channel_display_name, registration_reason, moderation_response, user_id, created_at, updated_at`

const SORT = { createdAt: 'created_at', state: STATE_ID }

/** One page, with the total of all matches. */
export async function listRegistrations(db: Database, query: RegistrationListQuery): Promise<{ total: number; rows: RegistrationRow[] }> {
  const direction = query.sort.descending ? 'desc' : 'asc'
  const order = `${SORT[query.sort.column]} ${direction}, id ${direction}`
  const matches = '($1::text is null or username ilike $1 or email ilike $1 or channel_handle ilike $1)'
  const [page] = await db.query<{ total: number; rows: RegistrationRow[] }>(
    `with page as (select ${COLUMNS} from registration where ${matches} order by ${order} limit $2 offset $3)
     select (select count(*) from registration where ${matches})::integer as total,
       coalesce((select json_agg(page order by ${order}) from page), '[]') as rows`,
    [query.search ? containing(query.search) : null, query.count, query.start],
  )
  return page ?? { total: 0, rows: [] }
}

export async function findRegistration(
  db: Pick<Database, 'query'>,
  id: number,
): Promise<(RegistrationRow & { password_hash: string | null }) | undefined> {
  const [row] = await db.query<RegistrationRow & { password_hash: string | null }>(
    `select ${COLUMNS}, password_hash from registration where id = $1`,
    [id],
  )
  return row
}
