// Known servers, their parked and refused activities, and the debug page.

import { newUuid } from '../../../../src/platform/ids.ts'
import type { RouteFixtures } from '../fixtures.ts'
import { administrators, row, staff } from '../row.ts'

const parked = async (fixtures: RouteFixtures) => ({ params: { id: await fixtures.parkedActivity() } })

export const peerRows = [
  row('GET /api/v1/vireo/peers', administrators(200)),
  row('POST /api/v1/vireo/peers/:host/retry', administrators(204), async (fixtures) => ({
    params: { host: await fixtures.followed() },
  })),
  row(
    'POST /api/v1/vireo/peers/:host/retry',
    administrators(404),
    () => ({ params: { host: `${newUuid()}.example` } }),
    'of an unknown host',
  ),
  row('GET /api/v1/vireo/parked-activities', administrators(200)),
  row('GET /api/v1/vireo/inbound-decisions', staff(200)),
  row('POST /api/v1/vireo/parked-activities/:id/retry', administrators(204), parked),
  row('DELETE /api/v1/vireo/parked-activities/:id', administrators(204), parked),
  row('GET /api/v1/server/debug', administrators(200)),
  row('GET /api/v1/vireo/status', administrators(200)),
  row('POST /api/v1/vireo/check-up', administrators(200), () => ({ body: {} })),
  row('POST /api/v1/server/debug/run-command', administrators(204), () => ({
    body: { command: 'process-video-views-buffer' },
  })),
]
