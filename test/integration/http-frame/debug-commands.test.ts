// Each command of the debug page runs its own task only.

import { expect, it } from '@jest/globals'
import { debugArea } from '../../../src/http/debug/routes.ts'
import type { Database } from '../../../src/platform/database/index.ts'
import { bearer, makeFrame } from './frame.ts'

it.each([
  ['remove-dandling-resumable-uploads', ['upload', 'upload-traces', 'pending-files']],
  ['process-video-views-buffer', ['fold-views', 'counters']],
  ['process-video-viewers', ['fold-views', 'count-viewers', 'end-watching', 'tell-viewers']],
  ['process-video-channel-sync-latest', ['hurry', 'channel_sync']],
  ['process-update-videos-scheduler', ['video-schedule']],
  ['remove-expired-user-exports', []],
])('%s runs %j', async (command, names) => {
  const ran: string[] = []
  const run = async (wanted: readonly string[]) => void ran.push(...wanted)
  const app = await makeFrame({
    add: debugArea({ db: {} as Database, run, channelSyncs: { hurry: () => run(['hurry']) } }),
  })
  const ask = (payload: object) =>
    app.inject({
      method: 'POST',
      url: '/api/v1/server/debug/run-command',
      payload,
      headers: bearer('admintoken'),
    })
  const refused = await ask({ command: 'toString' })
  expect(refused.json()).toMatchObject({ type: 'about:blank', status: 400, detail: 'Invalid command' })
  expect(refused.json()).not.toHaveProperty('invalid-params')
  expect((await ask({ command: 1 })).json()).toHaveProperty('invalid-params.command')
  expect(ran).toEqual([])
  expect((await ask({ command })).statusCode).toBe(204)
  expect(ran).toEqual(names)
  await app.close()
})
