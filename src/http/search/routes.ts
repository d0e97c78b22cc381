// Searches for videos, channels and playlists: by words in the database, or by an address or handle, for which its own server is asked if
// the configuration allows it.

import { listChannels } from '../../actors/channel/index.ts'
import { listPlaylists, playlistTypes } from '../../actors/playlist/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { VideoListQuery } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { listOf } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { playlistView, toPlaylistView } from '../video-playlists/views.ts'
import { channelView, type Here, toChannelView } from '../videos/actor.view.ts'
import { seesStrangers } from '../videos/follow-constraints.ts'
import { assertMayList, toListQuery } from '../videos/list.ts'
import { makeNsfwFilter } from '../videos/nsfw-filter.ts'
import type { VideoResponseCache } from '../videos/response-cache.ts'
import { videoView } from '../videos/video.view.ts'
import type { VideoPages } from '../videos/video-pages.ts'
import { readerOf, viewerOf } from '../videos/viewer.ts'
import { channelSearchQuery, playlistSearchQuery, videoSearchQuery } from './schemas.ts'

/** The row of an address or handle; `fetch`: its own server may be asked. Undefined if it is not found in time. */
type Find = (text: string, options: { fetch: boolean }) => Promise<number | undefined>

export interface SearchDeps {
  db: Database
  config: () => Config
  urls: Here
  videoPages: VideoPages
  resolvePasted: { video: Find; channel: Find; playlist: Find }
  /** Cache of responses; without it each is built again. */
  answers?: VideoResponseCache
}

const tags = ['Search']
const ADDRESS = /^\s*https?:\/\//i
const HANDLE = /^\s*@?[^@\s/]+@[^@\s/]+\s*$/

export function searchArea(deps: SearchDeps): Area {
  const { db, config, urls, videoPages, resolvePasted, answers } = deps
  const videosQuery = videoSearchQuery(config)
  const nsfwFilter = makeNsfwFilter(deps)

  const mayFetch = (isUser: boolean): boolean => seesStrangers(deps, isUser)

  /** Refuses queries for a search index, which this server does not use. */
  function refuseIndex(query: { searchTarget?: string | undefined }): void {
    if (query.searchTarget === 'search-index') throw new DomainError('unavailable', 'The search index does not answer.')
  }

  return (app) => {
    app.get(
      '/api/v1/search/videos',
      {
        config: { auth: 'optional' },
        ...answers?.ofLists(Object.keys(videosQuery.shape)),
        schema: {
          tags,
          operationId: 'searchVideos',
          querystring: videosQuery,
          response: { 200: listOf(videoView) },
        },
      },
      async (request) => {
        const { query, session } = request
        refuseIndex(query)
        const viewer = viewerOf(session)
        assertMayList(query, viewer)
        const search = query.search?.trim() ?? ''
        const isAddress = ADDRESS.test(search)
        const named = isAddress ? await resolvePasted.video(search, { fetch: mayFetch(session !== null) }) : undefined
        if (isAddress && named === undefined) return { total: 0, data: [] }
        const options = {
          scope: { of: 'everybody' } as const,
          viewer,
          reader: readerOf(session),
          nsfw: isAddress ? undefined : nsfwFilter(query, session?.nsfwPolicy),
          ownHost: urls.host,
        }
        const { sort, ...others } = query
        const asked: VideoListQuery = {
          ...toListQuery({ ...others, sort: { by: 'publishedAt', descending: true } }, options),
          sort,
          // Requesters that may cause a fetch also find remote content that is not followed.
          strangers: mayFetch(session !== null),
          uuids: query.uuids,
          publishedAt: span(query.startDate, query.endDate),
          originallyPublishedAt: span(query.originallyPublishedStartDate, query.originallyPublishedEndDate),
          duration: span(query.durationMin, query.durationMax),
          ...(isAddress ? { named, search: undefined } : {}),
        }
        return await videoPages(request, asked, query.include)
      },
    )

    app.get(
      '/api/v1/search/video-channels',
      {
        config: { auth: 'optional' },
        schema: {
          tags,
          operationId: 'searchChannels',
          querystring: channelSearchQuery(config),
          response: { 200: listOf(channelView) },
        },
      },
      async ({ query, session }) => {
        refuseIndex(query)
        const search = query.search?.trim() ?? ''
        const isNamed = ADDRESS.test(search) || HANDLE.test(search)
        const named = isNamed ? await resolvePasted.channel(search, { fetch: mayFetch(session !== null) }) : undefined
        if (isNamed && named === undefined) return { total: 0, data: [] }
        const host = query.host?.toLowerCase()
        const { total, rows } = await listChannels(db, {
          start: query.start,
          count: query.count,
          sort: query.sort,
          search: isNamed ? undefined : search || undefined,
          host: host === urls.host ? null : host,
          handles: query.handles?.map(({ name, host: of }) => ({ name, host: of === urls.host ? null : of })),
          ids: named === undefined ? undefined : [named],
          mutedFor: session?.user.accountId ?? null,
        })
        return { total, data: rows.map(({ channel, account }) => toChannelView(channel, account, urls)) }
      },
    )

    app.get(
      '/api/v1/search/video-playlists',
      {
        config: { auth: 'optional' },
        schema: {
          tags,
          operationId: 'searchPlaylists',
          querystring: playlistSearchQuery(config),
          response: { 200: listOf(playlistView) },
        },
      },
      async ({ query, session }) => {
        refuseIndex(query)
        const { start, count, sort, uuids } = query
        const search = query.search?.trim() ?? ''
        const isAddress = ADDRESS.test(search)
        const named = isAddress ? await resolvePasted.playlist(search, { fetch: mayFetch(session !== null) }) : undefined
        if (isAddress && named === undefined) return { total: 0, data: [] }
        const host = query.host?.toLowerCase()
        const { total, rows } = await listPlaylists(db, {
          start,
          count,
          sort,
          uuids,
          everyPrivacy: false,
          type: playlistTypes.regular,
          search: isAddress ? undefined : search || undefined,
          host: host === urls.host ? null : host,
          mutedFor: session?.user.accountId ?? null,
          // The elements of a playlist that was just found are still being fetched.
          ...(named === undefined ? { withVideos: true } : { ids: [named] }),
        })
        return { total, data: rows.map((row) => toPlaylistView(row, urls)) }
      },
    )
  }
}

const span = <T>(from: T | undefined, to: T | undefined) => (from === undefined && to === undefined ? undefined : { from, to })
