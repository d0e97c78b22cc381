// Progress reports of players on pages, for logged-in users: like the API, but with the cookie that only pages read. Visitors' players
// report to the API.

import { z } from 'zod'
import { clientIp } from '../plugins/client-ip.ts'
import { idOrUuid } from '../plugins/schemas.ts'
import { viewing } from '../views/watch.ts'
import type { PageTools } from './send.ts'

const LONGEST = 500
const seconds = z
  .string()
  .regex(/^\d{1,10}$/)
  .transform(Number)

const schema = {
  params: z.object({ id: idOrUuid('video') }),
  body: viewing.extend({
    currentTime: seconds.pipe(viewing.shape.currentTime),
    token: z.string().max(LONGEST).optional(),
    password: z.string().max(LONGEST).optional(),
  }),
  hide: true,
} as const

export function addWatchingReports({ app, visitors, watch }: PageTools): void {
  // The same limit as in the API.
  app.post('/w/:id/views', { schema, config: { limits: ['api'] } }, async (request, reply) => {
    const { token, password, ...body } = request.body
    visitors.refuseForged(request, token)
    const session = await visitors.of(request)
    await watch({ key: request.params.id, body, session, address: clientIp(request), password })
    return reply.code(204).send()
  })
}
