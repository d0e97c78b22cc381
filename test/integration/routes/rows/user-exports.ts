// Archives of users.

import { newUuid } from '../../../../src/platform/ids.ts'
import type { RouteFixtures } from '../fixtures.ts'
import { everybody, ownerOrStaff, row } from '../row.ts'

const ADDRESS = '/api/v1/users/:userId/exports'

/** Moderators have no access to private data of users. */
const ownerOrAdmin = (status: number) => ownerOrStaff(status, { moderator: 403 })

const ofUser = (fixtures: RouteFixtures) => ({ params: { userId: fixtures.users.user.id } })

/** A failed export of `user`, which does not block others. */
async function failed(fixtures: RouteFixtures): Promise<{ params: { userId: number; id: number } }> {
  const userId = fixtures.users.user.id
  const [made] = await fixtures.db.query<{ id: number }>(
    `insert into user_export (user_id, with_video_files, state, expires_on, due_at)
     values ($1, false, 'errored', now() + interval '1 day', now() + interval '1 day') returning id`,
    [userId],
  )
  return { params: { userId, id: made?.id ?? 0 } }
}

/** The name and the token of an archive's URL. */
async function archive(fixtures: RouteFixtures) {
  // One archive per user, with simultaneous callers.
  const userId = await fixtures.bystander(2)
  const filename = `user-export-${newUuid()}.zip`
  await fixtures.store.put({ kind: 'user_exports', name: filename }, Buffer.from('an archive'))
  await fixtures.db.query(
    `insert into user_export (user_id, with_video_files, filename, size, state, expires_on, due_at)
     values ($1, false, $2, 10, 'completed', now() + interval '1 day', now() + interval '1 day')`,
    [userId, filename],
  )
  const listed = await fixtures.send('admin', `/api/v1/users/${userId}/exports`, {})
  const { data } = (await listed.json()) as { data: { privateDownloadUrl: string }[] }
  const jwt = new URL(data[0]?.privateDownloadUrl ?? '').searchParams.get('jwt') ?? ''
  return { params: { filename }, query: { jwt } }
}

export const userExportRows = [
  row(`GET ${ADDRESS}`, ownerOrAdmin(200), ofUser),
  row(`POST ${ADDRESS}/request`, ownerOrAdmin(200), async (fixtures, caller) => ({
    params: { userId: caller === 'admin' ? await fixtures.bystander(2) : fixtures.users.user.id },
    body: { withVideoFiles: false },
  })),
  // The token in the URL authorizes.
  row('GET /download/user-exports/:filename', everybody(200), archive),
  row(`DELETE ${ADDRESS}/:id`, ownerOrAdmin(204), failed),
]
