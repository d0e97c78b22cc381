// Sessions in one process, and requests of clients that disconnect.

import { once } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, it } from '@jest/globals'
import { makeEngine } from '../../../../src/http/sockets/engine.ts'
import { silentLogger } from '../../../../src/platform/logger.ts'

const query = { EIO: '4', transport: 'polling' }

it('a session can move to another process after a client disconnected before its response', async () => {
  const engine = makeEngine({ newSid: () => 'a-session', namespaces: [], logger: silentLogger })
  try {
    expect((await engine.ask({ method: 'GET', query })).status).toBe(200)
    const request = new IncomingMessage(new Socket())
    Object.assign(request, { method: 'POST', url: '/socket.io/?EIO=4&transport=polling&sid=a-session' })
    const response = new ServerResponse(request)
    await once(response.destroy(), 'close')
    engine.answer(request, response, 'somebody')
    expect(await engine.release('a-session')).toEqual([])
    expect(engine.has('a-session')).toBe(false)
  } finally {
    await engine.close()
  }
})
