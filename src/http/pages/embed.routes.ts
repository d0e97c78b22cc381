// The player alone, for frames of other sites. It is always anonymous, since browsers send no cookies there.

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { hasPrivateFiles } from '../../actors/video/index.ts'
import { playerOptions, playerQuery } from './player-options.ts'
import { type PageTools, pageOptions } from './send.ts'
import { type AskedVideo, lockedPage, showPlayer, takingPassword } from './show-watch.ts'
import { findWatched } from './watched.ts'

const options = {
  schema: { params: z.object({ id: z.string() }), querystring: playerQuery, hide: true },
  config: { ...pageOptions.config, frameguard: false },
} as const
const PATH = '/videos/embed/:id'

export function addEmbedPages(tools: PageTools): void {
  const { app, answers, send, sendMissing, headOf, hiddenHead, keep } = tools

  async function show(request: AskedVideo<typeof playerQuery>, reply: FastifyReply, password?: string) {
    const watched = await findWatched(tools, null, { id: request.params.id, password })
    if (watched.found === 'nothing') return sendMissing(request, reply, true)
    if (watched.found === 'locked') return send(request, reply, { ...lockedPage(tools, watched), embed: true, forms: true })
    const { video, fileToken } = watched
    answers?.isAbout(request, video.id)
    const isPrivate = hasPrivateFiles(video)
    const shown = { video, visit: null, fileToken, password, options: playerOptions(request.query), embed: true }
    const { player, sources } = showPlayer(tools, shown)
    return send(request, reply, {
      ...(isPrivate ? hiddenHead(video.name) : headOf({ kind: 'video', video, embed: true })),
      body: player,
      player: true,
      embed: true,
      origins: sources.origins,
      isPrivate,
    })
  }

  const kept = keep(Object.keys(playerQuery.shape), { embed: true })
  app.get(PATH, { ...options, ...kept }, async (request, reply) => show(request, reply))
  app.post(PATH, takingPassword(options), async (request, reply) => show(request, reply, request.body.password))
}
