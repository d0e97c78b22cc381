// Queries of feeds.

import { z } from 'zod'
import type { Config } from '../../config/index.ts'
import { LARGEST_ID } from '../../platform/ids.ts'
import { idOrUuid, integerText } from '../plugins/schemas.ts'
import { listQuery } from '../videos/list.ts'
import { feedFormats } from './formats.ts'

const format = z.enum(feedFormats, 'Should have a valid format (rss, atom, json)')
const id = integerText({ min: 0, max: LARGEST_ID })
const handle = z.string().min(1).max(400)

export const byFormat = z.object({ format })

const owner = {
  accountId: id.optional(),
  accountName: handle.optional(),
  videoChannelId: id.optional(),
  videoChannelName: handle.optional(),
  format: format.optional(),
}

/** The filters of lists; the number of items is configured. */
const filters = (config: Config) => listQuery(config).omit({ start: true, count: true })

export const videoFeedQuery = (config: Config) => filters(config).extend(owner)

export const subscriptionFeedQuery = (config: Config) =>
  filters(config).extend({ accountId: id, token: z.string().min(1).max(200), format: format.optional() })

export const commentFeedQuery = z.object({ videoId: idOrUuid('video').optional(), ...owner })

export const podcastQuery = z.object({ videoChannelId: id })
