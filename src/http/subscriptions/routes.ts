// The channels that a user follows, and their videos: `/users/me/subscriptions`.

import { z } from 'zod'
import { listChannels } from '../../actors/channel/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import type { Subscriptions } from '../../actors/subscription/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { asciiHost } from '../../platform/host.ts'
import { sessionOf } from '../plugins/auth.ts'
import { isHost } from '../plugins/handles.ts'
import { listOf, oneOrMore, paging, sorting } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { channelView, type Here, toChannelView } from '../videos/actor.view.ts'
import { assertMayList, listQuery, toListQuery } from '../videos/list.ts'
import { makeNsfwFilter } from '../videos/nsfw-filter.ts'
import { videoView } from '../videos/video.view.ts'
import type { VideoPages } from '../videos/video-pages.ts'
import { readerOf, viewerOf } from '../videos/viewer.ts'

export interface SubscriptionsDeps {
  db: Database
  config: () => Config
  urls: Here
  videoPages: VideoPages
  subscriptions: Subscriptions
}

const tags = ['My Subscriptions']
const MAX_URIS = 100
const URIS = 'Should have a valid array of URIs'

const handle = (config: () => Config, message: string) =>
  z.string(message).transform((text, context) => {
    const [name = '', written = '', ...others] = text.split('@')
    const host = asciiHost(written)
    if (name !== '' && name.length <= 200 && others.length === 0 && isHost(host, config())) {
      return { name, host, text }
    }
    context.issues.push({ code: 'custom', input: text, message })
    return z.NEVER
  })

export function subscriptionsArea(deps: SubscriptionsDeps): Area {
  const { db, config, urls, videoPages, subscriptions } = deps
  const nsfwFilter = makeNsfwFilter(deps)
  const auth = { auth: 'user' } as const
  const params = z.object({ uri: handle(config, 'Invalid value') })
  const here = ({ name, host }: { name: string; host: string }) => ({ name, host: host === urls.host ? null : host })

  return (app) => {
    app.get(
      '/api/v1/users/me/subscriptions',
      {
        config: auth,
        schema: {
          tags,
          querystring: z.object({
            ...paging(config()),
            sort: sorting(['id', 'createdAt'], '-createdAt'),
            search: z.string().max(1000).optional(),
          }),
          response: { 200: listOf(channelView) },
        },
      },
      async (request) => {
        const { start, count, sort, search } = request.query
        const { total, rows } = await listChannels(db, {
          start,
          count,
          words: search === undefined ? undefined : { text: search, ownHost: urls.host },
          sort: { by: sort.by === 'id' ? 'followId' : 'followed', descending: sort.descending },
          followerActorId: await subscriptions.actorOf(sessionOf(request).user.accountId),
        })
        return { total, data: rows.map(({ channel, account }) => toChannelView(channel, account, urls)) }
      },
    )

    app.post(
      '/api/v1/users/me/subscriptions',
      {
        config: auth,
        schema: {
          tags,
          body: z.object({ uri: handle(config, 'Should have a valid URI to follow (username@domain)') }),
          response: { 200: z.null() },
        },
      },
      async (request, reply) => {
        const { accountId } = sessionOf(request).user
        await subscriptions.subscribe(accountId, here(request.body.uri))
        return reply.code(200).send(null)
      },
    )

    app.get(
      '/api/v1/users/me/subscriptions/exist',
      {
        config: auth,
        schema: {
          tags,
          querystring: z.object({
            // An omitted list is refused as a list of null, as clients expect.
            uris: z.preprocess((sent) => sent ?? [null], oneOrMore(handle(config, URIS), { max: MAX_URIS })),
          }),
          response: { 200: z.record(z.string(), z.boolean()) },
        },
      },
      async (request) => {
        const { uris } = request.query
        const found = await subscriptions.exist(sessionOf(request).user.accountId, uris.map(here))
        return Object.fromEntries(uris.map(({ text }, index) => [text, found[index] ?? false]))
      },
    )

    app.get(
      '/api/v1/users/me/subscriptions/videos',
      { config: auth, schema: { tags, querystring: listQuery(config()), response: { 200: listOf(videoView) } } },
      async (request) => {
        const { query } = request
        const { user, nsfwPolicy } = sessionOf(request)
        const viewer = viewerOf(sessionOf(request))
        assertMayList(query, viewer)
        const asked = toListQuery(query, {
          scope: { of: 'followed', followerActorId: await subscriptions.actorOf(user.accountId) },
          viewer,
          reader: readerOf(sessionOf(request)),
          nsfw: nsfwFilter(query, nsfwPolicy),
          ownHost: urls.host,
        })
        return await videoPages(request, asked, query.include)
      },
    )

    app.get(
      '/api/v1/users/me/subscriptions/:uri',
      { config: auth, schema: { tags, params, response: { 200: channelView } } },
      async (request) => {
        const { uri } = request.params
        const { rows } = await listChannels(db, {
          start: 0,
          count: 1,
          sort: { by: 'followId', descending: true },
          handles: [here(uri)],
          followerActorId: await subscriptions.actorOf(sessionOf(request).user.accountId),
        })
        const [found] = rows
        if (!found) throw notFound(`Subscription ${uri.text} not found.`)
        return toChannelView(found.channel, found.account, urls)
      },
    )

    app.delete(
      '/api/v1/users/me/subscriptions/:uri',
      { config: auth, schema: { tags, params, response: { 204: z.null() } } },
      async (request, reply) => {
        const { uri } = request.params
        const ended = await subscriptions.unsubscribe(sessionOf(request).user.accountId, here(uri))
        if (!ended) throw notFound(`Subscription ${uri.text} not found.`)
        return reply.code(204).send(null)
      },
    )
  }
}
