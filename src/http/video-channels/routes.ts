// Channels: lists, one channel with its videos and followers; creation, change and removal.

import { z } from 'zod'
import type { LookedAtActor } from '../../actors/actor/index.ts'
import {
  assertMayManageChannel,
  type Channels,
  type FoundChannel,
  findChannel,
  findChannelByHandle,
  listChannels,
} from '../../actors/channel/index.ts'
import { listFollowers } from '../../actors/follow/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { toActorHandle } from '../plugins/handles.ts'
import { listOf, paging, sorting } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { followView, toFollowView } from '../server-follows/views.ts'
import { channelView, type Here, toChannelView } from '../videos/actor.view.ts'
import { listQuery } from '../videos/list.ts'
import { makeVideoPageOf } from '../videos/list-page.ts'
import type { VideoResponseCache } from '../videos/response-cache.ts'
import { videoView } from '../videos/video.view.ts'
import type { VideoPages } from '../videos/video-pages.ts'
import { viewerOf } from '../videos/viewer.ts'
import { channelChangesBody, channelSortFields, newChannelBody, channelParam as params } from './fields.ts'

const tags = ['Video Channels']
const ONE = '/api/v1/video-channels/:channelHandle'

export function videoChannelsArea(deps: {
  db: Database
  config: () => Config
  urls: Here
  videoPages: VideoPages
  channels: Channels
  /** Called for each view of a channel. */
  lookedAtActor: LookedAtActor
  /** Cache of responses; without it each is built again. */
  answers?: VideoResponseCache
}): Area {
  const { db, config, urls, channels, lookedAtActor, answers } = deps
  const videosQuery = listQuery(config())
  const videoPageOf = makeVideoPageOf(deps)

  async function existing(handle: string): Promise<FoundChannel> {
    const channel = await findChannelByHandle(db, toActorHandle(handle, urls.host))
    if (!channel) throw notFound('Video channel not found')
    return channel
  }

  return (app) => {
    app.get(
      '/api/v1/video-channels',
      {
        config: { auth: 'optional' },
        schema: {
          tags,
          querystring: z.object({
            ...paging(config()),
            sort: sorting(channelSortFields, '-createdAt'),
            search: z.string().max(1000).optional(),
          }),
          response: { 200: listOf(channelView) },
        },
      },
      async ({ query: { search, ...query }, session }) => {
        const { total, rows } = await listChannels(db, {
          ...query,
          search: search?.trim() || undefined,
          mutedFor: session?.user.accountId ?? null,
        })
        return { total, data: rows.map(({ channel, account }) => toChannelView(channel, account, urls)) }
      },
    )

    app.post(
      '/api/v1/video-channels',
      {
        config: { auth: 'user' },
        schema: {
          tags,
          body: newChannelBody,
          response: { 200: z.object({ videoChannel: z.object({ id: z.int() }) }) },
        },
      },
      async (request) => {
        const { description = null, support = null, ...named } = request.body
        const videoChannel = await channels.create(sessionOf(request).user, { ...named, description, support })
        return { videoChannel }
      },
    )

    app.get(ONE, { schema: { tags, params, response: { 200: channelView } } }, async (request) => {
      const found = await findChannel(db, toActorHandle(request.params.channelHandle, urls.host))
      if (!found) throw notFound('Video channel not found')
      lookedAtActor(found.seen)
      return toChannelView(found.channel, found.account, urls)
    })

    app.put(
      ONE,
      {
        config: { auth: 'user' },
        schema: { tags, params, body: channelChangesBody, response: { 204: z.null() } },
      },
      async (request, reply) => {
        const { bulkVideosSupportUpdate: supportOfVideos, ...changes } = request.body
        const { id } = await existing(request.params.channelHandle)
        await channels.update(id, viewerOf(sessionOf(request)), { ...changes, supportOfVideos })
        return reply.code(204).send(null)
      },
    )

    app.delete(ONE, { config: { auth: 'user' }, schema: { tags, params, response: { 204: z.null() } } }, async (request, reply) => {
      const { id } = await existing(request.params.channelHandle)
      await channels.remove(id, viewerOf(sessionOf(request)))
      return reply.code(204).send(null)
    })

    app.get(
      `${ONE}/videos`,
      {
        config: { auth: 'optional' },
        ...answers?.ofLists(Object.keys(videosQuery.shape)),
        schema: { tags, params, querystring: videosQuery, response: { 200: listOf(videoView) } },
      },
      (request) =>
        videoPageOf(request, async () => {
          const { id: channelId, remote: isRemote } = await existing(request.params.channelHandle)
          return { scope: { of: 'channel', channelId }, isRemote }
        }),
    )

    app.get(
      `${ONE}/followers`,
      {
        config: { auth: 'user' },
        schema: {
          tags,
          params,
          querystring: z.object({
            ...paging(config()),
            sort: sorting(['createdAt'], '-createdAt'),
            search: z.string().max(500).optional(),
          }),
          response: { 200: listOf(followView) },
        },
      },
      async (request) => {
        const channel = await existing(request.params.channelHandle)
        assertMayManageChannel(channel, viewerOf(sessionOf(request)))
        const { total, rows } = await listFollowers(db, { ...request.query, of: { actorId: channel.actorId } })
        const view = { host: urls.host, score: config().vireo.federation.follow_score.base }
        return { total, data: rows.map((row) => toFollowView(row, view)) }
      },
    )
  }
}
