// Information about the instance, and messages to it.

import { administrators, everybody, row } from '../row.ts'

const HOMEPAGE = '/api/v1/custom-pages/homepage/instance'

export const instanceRows = [
  row(`PUT ${HOMEPAGE}`, administrators(204), () => ({ body: { content: '# Welcome' } })),
  row(`GET ${HOMEPAGE}`, everybody(200), async (fixtures) => {
    await fixtures.send('admin', HOMEPAGE, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ content: '# Welcome' }),
    })
    return {}
  }),
  row(
    'POST /api/v1/server/contact',
    everybody(409),
    () => ({ body: { fromName: 'Ada', fromEmail: 'ada@example.org', subject: 'Hello', body: 'a question' } }),
    'where no mail is sent',
  ),
  row('GET /api/v1/server/stats', everybody(200)),
]
