// Followers and follows of the instance.

import { newUuid } from '../../../../src/platform/ids.ts'
import type { RouteFixtures } from '../fixtures.ts'
import { administrators, everybody, row } from '../row.ts'

const follower = async (fixtures: RouteFixtures) => ({ params: { nameWithHost: await fixtures.follower() } })

export const serverFollowRows = [
  row('GET /api/v1/server/following', everybody(200)),
  row('GET /api/v1/server/followers', everybody(200)),
  row('POST /api/v1/server/following', administrators(204), () => ({
    body: { handles: [`somebody@${newUuid()}.example`] },
  })),
  row('DELETE /api/v1/server/following/:hostOrHandle', administrators(204), async (fixtures) => ({
    params: { hostOrHandle: await fixtures.followed() },
  })),
  row('DELETE /api/v1/server/followers/:nameWithHost', administrators(204), follower),
  row('POST /api/v1/server/followers/:nameWithHost/accept', administrators(204), follower),
  row('POST /api/v1/server/followers/:nameWithHost/reject', administrators(204), follower),
]
