// `/ping`: whether the server answers, without any limit.

import type { Area } from '../plugins/types.ts'

export const pingArea: Area = (app) => {
  app.get('/api/v1/ping', { config: { limits: false }, schema: { operationId: 'ping', tags: ['Misc'] } }, (_, reply) =>
    reply.header('content-type', 'text/html; charset=utf-8').send('pong'),
  )
}
