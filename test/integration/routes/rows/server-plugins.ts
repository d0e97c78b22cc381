// Plugins and runners: what answers without them.

import { newUuid } from '../../../../src/platform/ids.ts'
import { administrators, everybody, row } from '../row.ts'

const npmName = 'peertube-plugin-none'
const named = () => ({ params: { npmName } })
const job = () => ({ params: { jobUUID: newUuid() } })
const runnerToken = 'ptrt-nobody'

export const serverPluginRows = [
  row('GET /api/v1/plugins', administrators(200)),
  row('GET /api/v1/plugins/available', administrators(200)),
  row('GET /api/v1/plugins/:npmName', administrators(404), named),
  row('GET /api/v1/plugins/:npmName/registered-settings', administrators(404), named),
  row('GET /api/v1/plugins/:npmName/public-settings', everybody(404), named),
  row('PUT /api/v1/plugins/:npmName/settings', administrators(404), () => ({ ...named(), body: { settings: {} } })),
  row('POST /api/v1/plugins/install', administrators(400), () => ({ body: { npmName } })),
  row('POST /api/v1/plugins/update', administrators(404), () => ({ body: { npmName } })),
  row('POST /api/v1/plugins/uninstall', administrators(404), () => ({ body: { npmName } })),
  row('GET /plugins/global.css', everybody(200)),
  row('GET /plugins/translations/:file', everybody(200), () => ({ params: { file: 'fr-FR.json' } })),
]

export const runnerRows = [
  row('GET /api/v1/runners', administrators(200)),
  row('GET /api/v1/runners/jobs', administrators(200)),
  row('GET /api/v1/runners/registration-tokens', administrators(200)),
  row('POST /api/v1/runners/registration-tokens/generate', administrators(400)),
  row('DELETE /api/v1/runners/registration-tokens/:registrationTokenId', administrators(404), () => ({
    params: { registrationTokenId: 1 },
  })),
  row('DELETE /api/v1/runners/:runnerId', administrators(404), () => ({ params: { runnerId: 1 } })),
  row('DELETE /api/v1/runners/jobs/:jobUUID', administrators(404), job),
  row('POST /api/v1/runners/jobs/:jobUUID/cancel', administrators(404), job),
  row('POST /api/v1/runners/register', everybody(404), () => ({
    body: { registrationToken: 'ptrrt-nobody', name: 'one', description: 'a machine' },
  })),
  row('POST /api/v1/runners/unregister', everybody(404), () => ({ body: { runnerToken } })),
  row('POST /api/v1/runners/jobs/request', everybody(404), () => ({ body: { runnerToken } })),
  row('POST /api/v1/runners/jobs/:jobUUID/accept', everybody(404), () => ({ ...job(), body: { runnerToken } })),
]
