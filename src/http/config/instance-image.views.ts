// The instance's pictures as clients see them.

import type { z } from 'zod'
import type { InstanceFacts, InstanceImage } from '../../actors/instance/index.ts'
import type { imageView } from '../videos/actor.view.ts'

type ImageView = z.infer<typeof imageView>

export const toInstanceImages = (facts: InstanceFacts): { avatars: ImageView[]; banners: ImageView[] } => ({
  avatars: facts.avatars.map((image) => toView(image, 'avatars')),
  banners: facts.banners.map((image) => toView(image, 'banners')),
})

const toView = (image: InstanceImage, folder: string): ImageView => ({
  width: image.width,
  path: `/lazy-static/${folder}/${image.filename}`,
  createdAt: new Date(image.created_at).toISOString(),
  updatedAt: new Date(image.updated_at).toISOString(),
})
