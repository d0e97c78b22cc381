// The recorded exchanges of the area `two-factor`.

import { afterAll, beforeAll } from '@jest/globals'
import { replay } from '../oauth/replay.ts'
import { type SessionServer, startSessionServer } from '../oauth/server.ts'

let server: SessionServer
beforeAll(async () => {
  server = await startSessionServer()
})
afterAll(() => server?.stop())

replay({ file: 'two-factor', server: () => server })
