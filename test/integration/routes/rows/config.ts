// The configuration: the public part, and changes by administrators.

import type { RouteFixtures } from '../fixtures.ts'
import { pictureForm } from '../picture.ts'
import { administrators, everybody, row } from '../row.ts'

const CUSTOM = '/api/v1/config/custom'

/** The current configuration, so that other rows are not affected. */
async function unchanged(fixtures: RouteFixtures) {
  const answer = await fixtures.send('admin', CUSTOM, {})
  return { body: (await answer.json()) as object }
}

export const configRows = [
  row('GET /api/v1/config', everybody(200)),
  row('GET /api/v1/config/about', everybody(200)),
  row(`GET ${CUSTOM}`, administrators(200)),
  row(`PUT ${CUSTOM}`, administrators(200), unchanged),
  row(`DELETE ${CUSTOM}`, administrators(200)),
  row('GET /api/v1/vireo/config-fields', administrators(200)),
  row('GET /api/v1/vireo/logins', administrators(200)),
  row('PUT /api/v1/vireo/logins', administrators(200), () => ({ body: {} })),
  row('GET /api/v1/vireo/mail-server', administrators(200)),
  row('PUT /api/v1/vireo/mail-server', administrators(200), () => ({ body: {} })),
  ...(['avatar', 'banner'] as const).flatMap((kind) => [
    row(`POST /api/v1/config/instance-${kind}/pick`, administrators(204), async () => ({
      body: await pictureForm(`${kind}file`),
    })),
    row(`DELETE /api/v1/config/instance-${kind}`, administrators(204)),
  ]),
  row('GET /api/v1/ping', everybody(200)),
]
