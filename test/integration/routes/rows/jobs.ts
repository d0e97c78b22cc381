// The queue of jobs.

import { administrators, row, signedIn } from '../row.ts'

export const jobRows = [
  row('GET /api/v1/jobs', administrators(200)),
  row('GET /api/v1/jobs/:state', administrators(200), () => ({ params: { state: 'waiting' } })),
  ...['retry', 'cancel'].map((verb) =>
    row(`POST /api/v1/vireo/jobs/:id/${verb}`, administrators(404), () => ({ params: { id: '999999999' } })),
  ),
  row('GET /api/v1/vireo/users/me/videos/processing', signedIn(200)),
  row('POST /api/v1/jobs/pause', administrators(204)),
  row('POST /api/v1/jobs/resume', administrators(204)),
]
