// The query of video lists, and its translation for the database and the requester.

import { z } from 'zod'
import type { Viewer } from '../../actors/session/index.ts'
import { seesAllVideos, type VideoListQuery, type VideoListScope, videoSortFields } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import { readHost } from '../plugins/handles.ts'
import { HttpError } from '../plugins/http-error.ts'
import { booleanOrBoth, booleanText, coercedInteger, integerText, oneOrMore, paging, sorting } from '../plugins/schemas.ts'
import { includes } from './video.view.ts'

const texts = oneOrMore(z.string().min(1).max(200))
const numbers = oneOrMore(integerText({ min: 0, max: 32_767 }))

/** The filters of all public lists; spread it into the query of a route. */
export const listQuery = (config: Config) =>
  z.object({
    ...paging(config),
    sort: sorting(videoSortFields, '-publishedAt'),
    // Any value counts as true, as clients expect.
    skipCount: z
      .string()
      .default('false')
      .transform((text) => text !== 'false' && text !== '0'),
    search: z.string().max(1000).optional(),
    nsfw: booleanOrBoth.optional(),
    isLocal: booleanText.optional(),
    isLive: booleanText.optional(),
    categoryOneOf: numbers.optional(),
    licenceOneOf: numbers.optional(),
    languageOneOf: texts.optional(),
    tagsOneOf: texts.optional(),
    tagsAllOf: texts.optional(),
    autoTagOneOf: texts.optional(),
    privacyOneOf: oneOrMore(integerText({ min: 1, max: 5 })).optional(),
    include: integerText({ min: 0, max: 255 }).optional(),
    hasHLSFiles: booleanText.optional(),
    hasWebVideoFiles: booleanText.optional(),
    excludeAlreadyWatched: booleanText.optional(),
    host: z.string().min(1).max(300).transform(readHost).optional(),
    filter: z.string().optional(),
  })

export type ListQuery = z.output<ReturnType<typeof listQuery>>

/** The query of the user's own videos. */
export const ownListQuery = (config: Config) =>
  z.object({
    ...paging(config),
    sort: sorting(videoSortFields, '-publishedAt'),
    search: z.string().max(1000).optional(),
    isLive: booleanText.optional(),
    channelId: coercedInteger({ min: 0, max: 2_147_483_647 }).optional(),
  })

/** Throws 401, as clients expect, if the query includes content for the staff only. */
export function assertMayList(query: Omit<ListQuery, 'sort' | 'start' | 'count'>, viewer: Viewer): void {
  if (query.filter !== undefined) {
    throw new HttpError(400, 'The parameter "filter" is gone: use "isLocal" and "include".')
  }
  if (query.excludeAlreadyWatched !== undefined && !viewer) {
    throw new HttpError(400, 'The parameter "excludeAlreadyWatched" needs a user: nobody is signed in.')
  }
  const wantsStaffView = query.include !== undefined || query.privacyOneOf !== undefined || query.autoTagOneOf !== undefined
  if (wantsStaffView && !seesAllVideos(viewer)) {
    throw new HttpError(401, 'Only moderators may see all videos, or choose by automatic tags.')
  }
}

/**
 * `nsfw`: true for only sensitive videos, false for none of them; undefined for all. `reader` is the account whose mutes count, in addition
 * to those of the instance.
 */
export function toListQuery(
  query: ListQuery,
  options: { scope: VideoListScope; viewer: Viewer; reader: number | null; nsfw: boolean | undefined; ownHost: string },
): VideoListQuery {
  const { scope, viewer, reader, nsfw, ownHost } = options
  const { start, count, sort, skipCount, isLocal, isLive, categoryOneOf, licenceOneOf, languageOneOf, privacyOneOf } = query
  const { hasHLSFiles, hasWebVideoFiles, search, include = 0 } = query
  const host = query.host?.toLowerCase()
  const includesMuted = (include & includes.blockedOwner) !== 0
  return {
    scope,
    start,
    count,
    sort,
    skipCount,
    nsfw,
    isLocal,
    isLive,
    categoryOneOf,
    licenceOneOf,
    languageOneOf,
    privacyOneOf,
    hasWebVideoFiles,
    hasHlsFiles: hasHLSFiles,
    search: search || undefined,
    internal: viewer !== null,
    watcher: viewer?.accountId,
    notWatchedBy: query.excludeAlreadyWatched ? viewer?.accountId : undefined,
    ...(includesMuted ? {} : { mutedFor: reader }),
    tagsOneOf: query.tagsOneOf?.map((tag) => tag.toLowerCase()),
    tagsAllOf: query.tagsAllOf?.map((tag) => tag.toLowerCase()),
    autoTagOneOf: query.autoTagOneOf,
    unpublished: (include & includes.notPublished) !== 0,
    blocked: (include & includes.blacklisted) !== 0,
    host: host === ownHost ? null : host,
    include: {
      files: (include & includes.files) !== 0,
      source: (include & includes.source) !== 0,
      automaticTags: (include & includes.automaticTags) !== 0,
      ...(includesMuted ? { mutedFor: reader } : {}),
    },
  }
}
