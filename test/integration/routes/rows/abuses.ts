// Reports of abuse, and what is said about them.

import { newUuid } from '../../../../src/platform/ids.ts'
import type { Cast } from '../cast.ts'
import { ownerOrStaff, row, signedIn, staff } from '../row.ts'

/** A report by `user`. */
async function abuse(cast: Cast): Promise<{ params: { id: number } }> {
  const { accountId } = cast.users.user
  const [made] = await cast.db.query<{ id: number }>(
    `insert into abuse (url, object_url, kind, reason, reporter_id, reporter_name, reporter_url, reportee_name,
       reportee_url, reported_id)
     values ($1, $1, 'account', 'a reason', $2, 'user', $1, 'other', $1, $2) returning id`,
    [`${cast.base}/admin/abuses/${newUuid()}`, accountId],
  )
  return { params: { id: made?.id ?? 0 } }
}

const MESSAGE = { message: 'a message' }

async function message(cast: Cast): Promise<{ params: { id: number; messageId: number } }> {
  const { params } = await abuse(cast)
  const [made] = await cast.db.query<{ id: number }>(
    `insert into abuse_message (abuse_id, account_id, by_moderator, message) values ($1, $2, false, 'a message')
     returning id`,
    [params.id, cast.users.user.accountId],
  )
  return { params: { ...params, messageId: made?.id ?? 0 } }
}

export const abuseRows = [
  row('POST /api/v1/abuses', signedIn(200), async (cast) => ({
    body: { reason: 'a reason', video: { id: (await cast.video()).id } },
  })),
  row('GET /api/v1/abuses', staff(200)),
  row('GET /api/v1/users/me/abuses', signedIn(200)),
  row('PUT /api/v1/abuses/:id', staff(204), async (cast) => ({ ...(await abuse(cast)), body: { state: 3 } })),
  row('DELETE /api/v1/abuses/:id', staff(204), abuse),
  row('GET /api/v1/abuses/:id/messages', ownerOrStaff(200), abuse),
  row('POST /api/v1/abuses/:id/messages', ownerOrStaff(200), async (cast) => ({
    ...(await abuse(cast)),
    body: MESSAGE,
  })),
  row('DELETE /api/v1/abuses/:id/messages/:messageId', ownerOrStaff(204), message),
]
