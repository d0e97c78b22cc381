// The logs of the server, and reports of web clients.

import { administrators, row, visitors } from '../row.ts'

const since = () => ({ query: { startDate: new Date().toISOString() } })

export const serverLogRows = [
  row('GET /api/v1/server/logs', administrators(200), since),
  row('GET /api/v1/server/audit-logs', administrators(200), since),
  row('GET /api/v1/vireo/logs', administrators(200), since),
  row('GET /api/v1/vireo/audit-logs', administrators(200), since),
  row('POST /api/v1/server/logs/client', visitors(204), () => ({
    body: { level: 'warn', message: 'Something broke', url: 'https://example.com/w/1' },
  })),
]
