// Playback positions of players, reported every few seconds.

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { clientIp } from '../plugins/client-ip.ts'
import { type IdOrUuid, idOrUuid } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { passwordOf } from '../videos/viewer.ts'
import { viewing, type Watch } from './watch.ts'

const schema = {
  tags: ['Video'],
  params: z.object({ id: idOrUuid('video') }),
  body: viewing,
  response: { 204: z.null() },
}

export function viewsArea({ watch }: { watch: Watch }): Area {
  const report = (request: FastifyRequest, key: IdOrUuid, body: z.infer<typeof viewing>): Promise<void> =>
    watch({ key, body, session: request.session, address: clientIp(request), password: passwordOf(request) })

  return (app) => {
    app.post(
      '/api/v1/videos/:id/views',
      { config: { auth: 'optional' }, schema: { ...schema, operationId: 'addView' } },
      async (request, reply) => {
        await report(request, request.params.id, request.body)
        return reply.code(204).send(null)
      },
    )

    // The same, as some clients send it.
    app.put(
      '/api/v1/videos/:id/views',
      { config: { auth: 'optional' }, schema: { ...schema, deprecated: true } },
      async (request, reply) => {
        await report(request, request.params.id, request.body)
        return reply.code(204).send(null)
      },
    )

    app.put(
      '/api/v1/videos/:id/watching',
      { config: { auth: 'user' }, schema: { ...schema, deprecated: true } },
      async (request, reply) => {
        await report(request, request.params.id, request.body)
        return reply.code(204).send(null)
      },
    )
  }
}
