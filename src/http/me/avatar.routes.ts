// The avatar of the current user: `/users/me/avatar`.

import { z } from 'zod'
import type { ActorImages } from '../../actors/actor-image/index.ts'
import type { ReceiveImage } from '../actor-images/receive-image.ts'
import { sessionOf } from '../plugins/auth.ts'
import { addFormRoutes } from '../plugins/multipart.ts'
import type { Area } from '../plugins/types.ts'
import { imageView, toAvatarViews } from '../videos/actor.view.ts'

const tags = ['My User']
const avatars = z.object({ avatars: z.array(imageView) })

export function myAvatarArea(deps: { actorImages: ActorImages; receiveImage: ReceiveImage }): Area {
  const { actorImages, receiveImage } = deps
  return (app) => {
    addFormRoutes(app, (forms) => {
      forms.post(
        '/api/v1/users/me/avatar/pick',
        { config: { auth: 'user', form: { files: ['avatarfile'] } }, schema: { tags, response: { 200: avatars } } },
        async (request) => {
          const { actorId } = sessionOf(request).user
          const rows = await receiveImage(request, 'avatarfile', (path) => actorImages.set(actorId, 'avatar', path))
          return { avatars: toAvatarViews(rows) }
        },
      )
    })

    app.delete('/api/v1/users/me/avatar', { config: { auth: 'user' }, schema: { tags, response: { 200: avatars } } }, async (request) => {
      await actorImages.remove(sessionOf(request).user.actorId, 'avatar')
      return { avatars: [] }
    })
  }
}
