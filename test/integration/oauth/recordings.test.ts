// The recorded exchanges of the area `oauth` (the one of a video list is in http-frame/auth.test.ts).

import { afterAll, beforeAll } from '@jest/globals'
import { replay } from './replay.ts'
import { type SessionServer, startSessionServer } from './server.ts'

let server: SessionServer
beforeAll(async () => {
  server = await startSessionServer()
})
afterAll(() => server?.stop())

replay({
  file: 'oauth',
  server: () => server,
  instead: {
    'block user': (ids) => server.block(Number(ids.get('id:user'))),
  },
  decided: { 'token of blocked user': { status: 401, body: { status: 401, code: 'invalid_token' } } },
})
