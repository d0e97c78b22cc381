// Avatar and banner of the instance: `/config/instance-avatar` and `/config/instance-banner`.

import { z } from 'zod'
import type { ActorImages } from '../../actors/actor-image/index.ts'
import type { InstanceFactsReader } from '../../actors/instance/index.ts'
import type { ReceiveImage } from '../actor-images/receive-image.ts'
import { addFormRoutes } from '../plugins/multipart.ts'
import type { Area } from '../plugins/types.ts'

const schema = { tags: ['Config'], response: { 204: z.null() } }

export function instanceImagesArea(deps: {
  instanceActorId: () => Promise<number>
  actorImages: ActorImages
  receiveImage: ReceiveImage
  /** The configuration for clients includes the images. */
  facts: Pick<InstanceFactsReader, 'changed'>
}): Area {
  const { instanceActorId, actorImages, receiveImage, facts } = deps
  return (app) => {
    for (const kind of ['avatar', 'banner'] as const) {
      const url = `/api/v1/config/instance-${kind}`
      const field = `${kind}file`
      const done = { domain: 'config', action: 'update', id: 0, entity: { [`instance-${kind}`]: 'changed' } } as const

      addFormRoutes(app, (forms) => {
        forms.post(
          `${url}/pick`,
          { config: { right: 'MANAGE_CONFIGURATION', form: { files: [field] } }, schema },
          async (request, reply) => {
            const actorId = await instanceActorId()
            await receiveImage(request, field, (path) => actorImages.set(actorId, kind, path, done))
            await facts.changed()
            return reply.code(204).send(null)
          },
        )
      })

      app.delete(url, { config: { right: 'MANAGE_CONFIGURATION' }, schema }, async (_request, reply) => {
        await actorImages.remove(await instanceActorId(), kind, done)
        await facts.changed()
        return reply.code(204).send(null)
      })
    }
  }
}
