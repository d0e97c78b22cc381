// Abuse reports, and messages about them.

import { newUuid } from '../../../../src/platform/ids.ts'
import type { RouteFixtures } from '../fixtures.ts'
import { ownerOrStaff, row, signedIn, staff } from '../row.ts'

/** A report by `user`. */
async function abuse(fixtures: RouteFixtures): Promise<{ params: { id: number } }> {
  const { accountId } = fixtures.users.user
  const [made] = await fixtures.db.query<{ id: number }>(
    `insert into abuse (url, object_url, kind, reason, reporter_id, reporter_name, reporter_url, reportee_name,
       reportee_url, reported_id)
     values ($1, $1, 'account', 'a reason', $2, 'user', $1, 'other', $1, $2) returning id`,
    [`${fixtures.base}/admin/abuses/${newUuid()}`, accountId],
  )
  return { params: { id: made?.id ?? 0 } }
}

const MESSAGE = { message: 'a message' }

async function message(fixtures: RouteFixtures): Promise<{ params: { id: number; messageId: number } }> {
  const { params } = await abuse(fixtures)
  const [made] = await fixtures.db.query<{ id: number }>(
    `insert into abuse_message (abuse_id, account_id, by_moderator, message) values ($1, $2, false, 'a message')
     returning id`,
    [params.id, fixtures.users.user.accountId],
  )
  return { params: { ...params, messageId: made?.id ?? 0 } }
}

export const abuseRows = [
  row('POST /api/v1/abuses', signedIn(200), async (fixtures) => ({
    body: { reason: 'a reason', video: { id: (await fixtures.video()).id } },
  })),
  row('GET /api/v1/abuses', staff(200)),
  row('GET /api/v1/users/me/abuses', signedIn(200)),
  row('PUT /api/v1/abuses/:id', staff(204), async (fixtures) => ({ ...(await abuse(fixtures)), body: { state: 3 } })),
  row('DELETE /api/v1/abuses/:id', staff(204), abuse),
  row('GET /api/v1/abuses/:id/messages', ownerOrStaff(200), abuse),
  row('POST /api/v1/abuses/:id/messages', ownerOrStaff(200), async (fixtures) => ({
    ...(await abuse(fixtures)),
    body: MESSAGE,
  })),
  row('DELETE /api/v1/abuses/:id/messages/:messageId', ownerOrStaff(204), message),
]
