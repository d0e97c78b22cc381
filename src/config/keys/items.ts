// Schemas of the objects in lists: sentinels, redundancy strategies, thumbnail sizes.

import { z } from 'zod'
import { inside } from '../kinds.ts'

export const sentinelAddress = z.object({
  hostname: z.string(),
  port: inside.integer.default(26_379),
})

export const redundancyStrategy = z.object({
  strategy: z.enum(['most-views', 'trending', 'recently-added']),
  /** Bytes. */
  size: inside.size,
  /** Milliseconds. */
  min_lifetime: inside.duration,
  min_views: inside.integer.optional(),
})

/** Pixels. */
export const imageSize = z.object({ width: inside.integer, height: inside.integer })
