// Queries of searches.

import { z } from 'zod'
import { videoSortFields } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import { fromShortUuid, isUuid } from '../../platform/ids.ts'
import { hostText, splitHandle } from '../plugins/handles.ts'
import { integerText, moment, oneOrMore, paging, sorting } from '../plugins/schemas.ts'
import { listQuery } from '../videos/list.ts'

const MAX_NAMES = 100

const uuid = z.string().transform((text, context) => {
  const found = isUuid(text) ? text.toLowerCase() : fromShortUuid(text)
  if (found !== undefined) return found
  context.issues.push({ code: 'custom', input: text, message: 'Should have a valid UUID' })
  return z.NEVER
})

/** A search index is valid only if one is configured. */
const searchTarget = (config: () => Config) =>
  z
    .enum(['local', 'search-index'])
    .optional()
    .refine((target) => target !== 'search-index' || config().search.search_index.enabled, 'The search index is not enabled on this server')

const hostOf = (config: () => Config) =>
  hostText(config, 'Invalid value')
    .refine((text) => /[.:]/.test(text), 'Invalid value')
    .optional()

const seconds = integerText({ min: 0, max: 2_147_483_647 }).optional()

export const videoSearchQuery = (config: () => Config) =>
  listQuery(config()).extend({
    sort: sorting(['match', ...videoSortFields], '-match'),
    searchTarget: searchTarget(config),
    host: hostOf(config),
    uuids: oneOrMore(uuid, { max: MAX_NAMES }).optional(),
    startDate: moment.optional(),
    endDate: moment.optional(),
    originallyPublishedStartDate: moment.optional(),
    originallyPublishedEndDate: moment.optional(),
    durationMin: seconds,
    durationMax: seconds,
  })

export const channelSearchQuery = (config: () => Config) =>
  z.object({
    ...paging(config()),
    search: z.string().max(1000).optional(),
    sort: sorting(['match', 'displayName', 'createdAt'], '-match'),
    searchTarget: searchTarget(config),
    host: hostOf(config),
    handles: oneOrMore(channelHandle(config), { max: MAX_NAMES }).optional(),
  })

export const playlistSearchQuery = (config: () => Config) =>
  z.object({
    ...paging(config()),
    search: z.string().max(1000).optional(),
    sort: sorting(['match', 'displayName', 'createdAt'], '-match'),
    searchTarget: searchTarget(config),
    host: hostOf(config),
    uuids: oneOrMore(uuid, { max: MAX_NAMES }).optional(),
  })

/** `name@host`, or the name of a local channel. */
const channelHandle = (config: () => Config) =>
  z.string().transform((text, context): { name: string; host: string | null } => {
    const handle = splitHandle(text, config())
    if (handle) return { name: handle.name, host: handle.host.toLowerCase() }
    if (/^[\w.-]{1,200}$/.test(text)) return { name: text, host: null }
    context.issues.push({ code: 'custom', input: text, message: 'Should have valid array of handles' })
    return z.NEVER
  })
