// Avatar and banner of a channel: `/video-channels/{channelHandle}/avatar` and `/banner`.

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { ActorImages } from '../../actors/actor-image/index.ts'
import { assertMayManageChannel, findChannelByHandle } from '../../actors/channel/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { ReceiveImage } from '../actor-images/receive-image.ts'
import { sessionOf } from '../plugins/auth.ts'
import { toActorHandle } from '../plugins/handles.ts'
import { addFormRoutes } from '../plugins/multipart.ts'
import type { Area } from '../plugins/types.ts'
import { type Here, imageView, toAvatarViews, toBannerViews } from '../videos/actor.view.ts'
import { viewerOf } from '../videos/viewer.ts'
import { channelParam as params } from './fields.ts'

const tags = ['Video Channels']
const images = z.array(imageView)

export function channelImagesArea(deps: { db: Database; urls: Here; actorImages: ActorImages; receiveImage: ReceiveImage }): Area {
  const { db, urls, actorImages, receiveImage } = deps

  async function managed(request: FastifyRequest, handle: string): Promise<number> {
    const channel = await findChannelByHandle(db, toActorHandle(handle, urls.host))
    if (!channel) throw notFound('Video channel not found')
    assertMayManageChannel(channel, viewerOf(sessionOf(request)))
    return channel.actorId
  }

  return (app) => {
    const kinds = [
      {
        kind: 'avatar',
        view: z.object({ avatars: images }),
        toView: (rows: Rows) => ({ avatars: toAvatarViews(rows) }),
      },
      {
        kind: 'banner',
        view: z.object({ banners: images }),
        toView: (rows: Rows) => ({ banners: toBannerViews(rows) }),
      },
    ] as const
    for (const { kind, view, toView } of kinds) {
      const url = `/api/v1/video-channels/:channelHandle/${kind}`
      const field = `${kind}file`

      addFormRoutes(app, (forms) => {
        forms.post(
          `${url}/pick`,
          {
            config: { auth: 'user', form: { files: [field] } },
            schema: { tags, params, response: { 200: view } },
          },
          async (request) => {
            const actorId = await managed(request, request.params.channelHandle)
            return toView(await receiveImage(request, field, (path) => actorImages.set(actorId, kind, path)))
          },
        )
      })

      app.delete(url, { config: { auth: 'user' }, schema: { tags, params, response: { 204: z.null() } } }, async (request, reply) => {
        await actorImages.remove(await managed(request, request.params.channelHandle), kind)
        return reply.code(204).send(null)
      })
    }
  }
}

type Rows = Parameters<typeof toAvatarViews>[0]
