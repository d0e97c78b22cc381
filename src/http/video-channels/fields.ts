// Bodies and queries of the routes of channels (contract, fields.channel).

import { z } from 'zod'
import { displayName, localName } from '../users/fields.ts'

export const channelSortFields = ['id', 'name', 'updatedAt', 'createdAt'] as const

const text = z.string().min(3).max(1000).nullish()

export const newChannelBody = z
  .object({ name: localName, displayName, description: text, support: text })
  .meta({ id: 'VideoChannelCreate' })

export const channelChangesBody = z
  .object({
    displayName: displayName.optional(),
    description: text,
    support: text,
    bulkVideosSupportUpdate: z.boolean().optional(),
  })
  .meta({ id: 'VideoChannelUpdate' })

export const channelParam = z.object({ channelHandle: z.string() })
