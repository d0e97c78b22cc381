// The page of a video, and the form for its password.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { threadIn } from './addresses.ts'
import { lockedBody } from './bodies/locked.ts'
import { makeFindPart } from './find-part.ts'
import { plainHead } from './heads/index.ts'
import { headed } from './layout.ts'
import { playerOptions, playerQuery } from './player-options.ts'
import { type PageTools, pageOptions } from './send.ts'
import { reportsOf, showWatch } from './show-watch.ts'

const MOST = 1_000_000
const LARGEST_ID = 2_147_483_647

const querystring = playerQuery.extend({
  commentsStart: z.coerce.number().int().min(0).max(MOST).catch(0),
  threadId: z.coerce.number().int().min(1).max(LARGEST_ID).optional().catch(undefined),
})
const params = z.object({ id: z.string() })
const options = { ...pageOptions, schema: { params, querystring, hide: true } } as const
/** A password that is too long is wrong as well. */
const passwordForm = z.object({ password: z.string().max(500).catch('') })

export function addWatchPages(tools: PageTools): void {
  const { app, answers, site, visitors, send, sendMissing, keep } = tools
  const findPart = makeFindPart(tools)

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    { id, query, password }: { id: string; query: z.infer<typeof querystring>; password?: string },
  ) {
    const visit = await visitors.of(request)
    const said = { start: query.commentsStart, threadId: query.threadId }
    const watched = await findPart(visit, { id, password, said })
    if (watched.found === 'nothing') return sendMissing(request, reply)
    if (watched.found === 'locked') {
      return send(request, reply, {
        status: 403,
        ...headed(plainHead(site(), 'Password needed', { isIndexed: false })),
        body: lockedBody(watched),
      })
    }
    const { part } = watched
    const { video, fileToken } = part
    answers?.isAbout(request, video.id, part.until)
    const reports = reportsOf(tools, { request, reply }, { video, visit })
    const shown = { video, visit, fileToken, password, reports, options: playerOptions(query) }
    return send(request, reply, showWatch(tools, part, shown))
  }

  for (const path of ['/w/:id', '/videos/watch/:id']) {
    app.get(path, { ...options, ...keep(Object.keys(querystring.shape)) }, async (request, reply) => {
      const { id } = request.params
      const thread = threadIn(id)
      // Without a fragment, so that browsers keep the one that names the comment.
      if (thread) return reply.redirect(`/w/${thread.id}?threadId=${thread.threadId}`, 302)
      return show(request, reply, { id, query: request.query })
    })

    // The password is not stored: a reload sends it again.
    app.post(
      path,
      {
        ...options,
        config: { ...options.config, takesVideoPassword: true },
        schema: { ...options.schema, body: passwordForm },
      },
      async (request, reply) => show(request, reply, { id: request.params.id, query: request.query, password: request.body.password }),
    )
  }
}
