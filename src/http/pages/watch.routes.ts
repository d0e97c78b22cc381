// The page of a video, the form for its password, and the progress reports of logged-in users.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findChannel } from '../../actors/channel/index.ts'
import type { Visit } from '../../actors/session/index.ts'
import type { WatchedVideoRow } from '../../actors/video/index.ts'
import { toShortUuid } from '../../platform/ids.ts'
import { clientIp } from '../plugins/client-ip.ts'
import { idOrUuid } from '../plugins/schemas.ts'
import { viewing } from '../views/watch.ts'
import { threadIn, watchPath } from './addresses.ts'
import { subscribeButton } from './bodies/subscribe.ts'
import { counted } from './bodies/text.ts'
import { playerOptions, playerQuery } from './player-options.ts'
import { makeApi, valueAt } from './screens/api.ts'
import { commentForm, ownActions, visitorActions } from './screens/watch.ts'
import { type PageTools, pageOptions } from './send.ts'
import { type AskedVideo, lockedPage, makeFindPart, reportsOf, showWatch, takingPassword } from './show-watch.ts'

const MOST = 1_000_000
const LARGEST_ID = 2_147_483_647

const querystring = playerQuery.extend({
  commentsStart: z.coerce.number().int().min(0).max(MOST).catch(0),
  threadId: z.coerce.number().int().min(1).max(LARGEST_ID).optional().catch(undefined),
})
const options = { ...pageOptions, schema: { params: z.object({ id: z.string() }), querystring, hide: true } } as const

export function addWatchPages(tools: PageTools): void {
  addReports(tools)
  const { app, db, answers, urls, visitors, languageOf, send, sendMissing, keep } = tools
  const findPart = makeFindPart(tools)
  const api = makeApi(tools)

  /** What the viewer may do below the video. */
  async function ownPartsOf(request: FastifyRequest, reply: FastifyReply, video: WatchedVideoRow, visit: Visit | null) {
    const id = toShortUuid(video.uuid)
    if (!visit) return { actions: visitorActions(id) }
    const { channel } = video
    const [rating, found] = await Promise.all([
      api.call(request, { operation: 'GET /api/v1/users/me/videos/:videoId/rating', values: { videoId: video.uuid } }),
      findChannel(db, { name: channel.username, host: channel.host }, { followedBy: visit.user.actorId }),
    ])
    const token = visitors.formToken(request, reply)
    const isSubscribed = found?.followed === true
    const subscribe = subscribeButton({ channel, here: urls, isSubscribed, next: watchPath(video), token })
    const own = { id, rating: rating.ok && valueAt(rating.body, 'rating'), token, hasComments: video.comments_policy !== 2, subscribe }
    // The shared page may have an older number.
    const subscribers = counted.subscribers((found?.channel ?? channel).followers)
    return { actions: ownActions(own), subscribers, subscribe, comment: commentForm(own) }
  }

  async function show(request: AskedVideo<typeof querystring>, reply: FastifyReply, password?: string) {
    const { params, query } = request
    const visit = await visitors.of(request)
    const said = { start: query.commentsStart, threadId: query.threadId }
    const watched = await findPart(visit, { id: params.id, password, said, language: languageOf(request) })
    if (watched.found === 'nothing') return sendMissing(request, reply)
    if (watched.found === 'locked') return send(request, reply, lockedPage(tools, watched))
    const { part } = watched
    const { video, fileToken } = part
    answers?.isAbout(request, video.id, part.until)
    const reports = reportsOf(tools, { request, reply }, { video, visit })
    const own = await ownPartsOf(request, reply, video, visit)
    const shown = { video, visit, fileToken, password, reports, own, options: playerOptions(query) }
    return send(request, reply, showWatch(tools, part, shown))
  }

  for (const path of ['/w/:id', '/videos/watch/:id']) {
    app.get(path, { ...options, ...keep(Object.keys(querystring.shape)) }, async (request, reply) => {
      const thread = threadIn(request.params.id)
      // Without a fragment, so that browsers keep the one that names the comment.
      if (thread) return reply.redirect(`/w/${thread.id}?threadId=${thread.threadId}`, 302)
      return show(request, reply)
    })

    // The password is not stored: a reload sends it again.
    app.post(path, takingPassword(options), async (request, reply) => show(request, reply, request.body.password))
  }
}

const LONGEST_TEXT = 500
const seconds = z
  .string()
  .regex(/^\d{1,10}$/)
  .transform(Number)

const reportSchema = {
  params: z.object({ id: idOrUuid('video') }),
  body: viewing.extend({
    currentTime: seconds.pipe(viewing.shape.currentTime),
    token: z.string().max(LONGEST_TEXT).optional(),
    password: z.string().max(LONGEST_TEXT).optional(),
  }),
  hide: true,
} as const

/** Progress reports of players on pages, for logged-in users: like the API, but with the cookie that only pages read. */
function addReports({ app, visitors, watch }: PageTools): void {
  // The same limit as in the API.
  app.post('/w/:id/views', { schema: reportSchema, config: { limits: ['api'] } }, async (request, reply) => {
    const { token, password, ...body } = request.body
    visitors.refuseForged(request, token)
    const session = await visitors.of(request)
    await watch({ key: request.params.id, body, session, address: clientIp(request), password })
    return reply.code(204).send()
  })
}
