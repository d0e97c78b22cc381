// ServerConfigAbout: the description of the instance.

import { z } from 'zod'
import type { InstanceFacts } from '../../actors/instance/index.ts'
import type { Config } from '../../config/index.ts'
import { imageView } from '../videos/actor.view.ts'
import { toInstanceImages } from './instance-image.views.ts'

export const aboutView = z
  .object({
    instance: z.object({
      name: z.string(),
      shortDescription: z.string(),
      description: z.string(),
      terms: z.string(),
      codeOfConduct: z.string(),
      hardwareInformation: z.string(),
      creationReason: z.string(),
      moderationInformation: z.string(),
      administrator: z.string(),
      maintenanceLifetime: z.string(),
      businessModel: z.string(),
      languages: z.array(z.string()),
      categories: z.array(z.int()),
      banners: z.array(imageView),
      avatars: z.array(imageView),
    }),
  })
  .meta({ id: 'ServerConfigAbout' })

export const toAbout = ({ instance }: Config, facts: InstanceFacts): z.infer<typeof aboutView> => ({
  instance: {
    name: instance.name,
    shortDescription: instance.short_description,
    description: instance.description,
    terms: instance.terms,
    codeOfConduct: instance.code_of_conduct,
    hardwareInformation: instance.hardware_information,
    creationReason: instance.creation_reason,
    moderationInformation: instance.moderation_information,
    administrator: instance.administrator,
    maintenanceLifetime: instance.maintenance_lifetime,
    businessModel: instance.business_model,
    languages: [...instance.languages],
    categories: [...instance.categories],
    ...toInstanceImages(facts),
  },
})
