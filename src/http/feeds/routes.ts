// Feeds for readers: videos, comments, the user's subscriptions, and channels as podcasts.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type FeedOwnerKey, findFeedAccount, findFeedChannel, findSubscriber, listFeedComments } from '../../actors/feed/index.ts'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import type { Viewer } from '../../actors/session/index.ts'
import { findVideoDetails, listVideos, nsfwPolicyOf, type VideoListQuery, type VideoListScope } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { mapInSlices } from '../../platform/time-slices.ts'
import { toActorHandle } from '../plugins/handles.ts'
import { HttpError } from '../plugins/http-error.ts'
import type { Area } from '../plugins/types.ts'
import type { Here } from '../videos/actor.view.ts'
import { assertScopeFollowed, seesStrangers } from '../videos/follow-constraints.ts'
import { assertMayList, toListQuery } from '../videos/list.ts'
import { makeNsfwFilter } from '../videos/nsfw-filter.ts'
import type { VideoResponseCache } from '../videos/response-cache.ts'
import { visibleVideo } from '../videos/visible-video.ts'
import { toCommentItem } from './comment-items.ts'
import { type FeedHead, type FeedItem, writeFeed } from './document.ts'
import { byFormat, commentFeedQuery, podcastQuery, subscriptionFeedQuery, videoFeedQuery } from './fields.ts'
import { contentTypeOf, type FeedFormat } from './formats.ts'
import { accountPage, faviconOf, feedId, type HeadOf, headOfAccount, headOfChannel, headOfInstance, headOfVideo } from './heads.ts'
import { feedHooks, formatOf } from './hooks.ts'
import { writePodcast } from './podcast.ts'
import { podcastEmail } from './podcast-about.ts'
import { toVideoItem } from './video-items.ts'

export interface FeedsDeps {
  db: Database
  config: () => Config
  clock: Clock
  urls: Here
  /** Cache of responses; without it each is built again. */
  answers?: VideoResponseCache
}

const tags = ['Video Feeds']

interface Wanted {
  accountId?: number | undefined
  accountName?: string | undefined
  videoChannelId?: number | undefined
  videoChannelName?: string | undefined
}

/** The owner of the requested feed. */
interface Found {
  head: HeadOf
  isRemote: boolean
  scope: Extract<VideoListScope, { of: 'everybody' | 'account' | 'channel' }>
}

/** Adds `/feeds`. */
export function feedsArea({ db, config, clock, urls, answers }: FeedsDeps): Area {
  const nsfwFilter = makeNsfwFilter({ config })
  /** The date of empty feeds, so that they do not change. */
  const startedAt = clock.now()
  const keyOf = (id: number | undefined, name: string | undefined): FeedOwnerKey | undefined =>
    id !== undefined ? { id } : name !== undefined ? toActorHandle(name, urls.host) : undefined

  /** Throws `not_found`, and `forbidden` for actors that the instance does not follow. A channel is more specific than an account. */
  async function ownerOf(wanted: Wanted): Promise<Found> {
    const found = await anyOwnerOf(wanted)
    if (found.isRemote) await assertScopeFollowed({ db, config }, false, found.scope)
    return found
  }

  async function anyOwnerOf(wanted: Wanted): Promise<Found> {
    const channelKey = keyOf(wanted.videoChannelId, wanted.videoChannelName)
    const accountKey = keyOf(wanted.accountId, wanted.accountName)
    const account = accountKey && (await findFeedAccount(db, accountKey))
    if (accountKey && !account) throw notFound('Account not found')
    if (channelKey) {
      const found = await findFeedChannel(db, channelKey)
      // A channel of another account does not match.
      if (!found || (account && account.id !== found.account.id)) throw notFound('Video channel not found')
      const { channel, account: owner } = found
      const author = { name: channel.name, link: accountPage(owner, urls) }
      return {
        head: { ...headOfChannel(channel, urls), author },
        isRemote: channel.host !== null,
        scope: { of: 'channel', channelId: channel.id },
      }
    }
    if (account) {
      const author = { name: account.name, link: accountPage(account, urls) }
      return {
        head: { ...headOfAccount(account, urls), author },
        isRemote: account.host !== null,
        scope: { of: 'account', accountId: account.id },
      }
    }
    return { head: headOfInstance(config(), urls), isRemote: false, scope: { of: 'everybody' } }
  }

  /** The address of the feed, with the query parameters that the route reads; lists in one spelling, since requests share the document. */
  function selfOf(path: string, request: FastifyRequest, names: readonly string[]): FeedHead['self'] {
    const sent = [...new URLSearchParams(request.url.split('?')[1] ?? '')].map(([name, value]) => [name.replace(/\[\d*\]$/, ''), value])
    const query = new URLSearchParams(sent.filter(([name = '']) => name !== 'format' && names.includes(name)))
    const search = query.size === 0 ? '' : `?${query}`
    return (family) => `${urls.origin}${path}${path.endsWith('.xml') ? '' : `.${family}`}${search}`
  }

  const headFor = (of: HeadOf, self: FeedHead['self'], dates: readonly Date[]): FeedHead => ({
    ...of,
    self,
    id: feedId(self),
    favicon: faviconOf(urls),
    origin: urls.origin,
    updated: new Date(dates.length === 0 ? startedAt : Math.max(...dates.map(Number))),
  })

  function send(reply: FastifyReply, format: FeedFormat, { head, items }: { head: FeedHead; items: FeedItem[] }) {
    return reply.header('content-type', contentTypeOf(format)).send(writeFeed(head, items, format))
  }

  return (app) => {
    const videoQuery = videoFeedQuery(config())
    const videoNames = Object.keys(videoQuery.shape)
    const subscriptionQuery = subscriptionFeedQuery(config())
    const subscriptionNames = Object.keys(subscriptionQuery.shape)
    const commentNames = Object.keys(commentFeedQuery.shape)
    const podcastNames = Object.keys(podcastQuery.shape)
    const document = { 200: z.string() }
    const maxAge = () => Math.round(config().vireo.caching.routes.feeds / 1000)
    const hooks = (names: readonly string[], kept = answers?.ofFeeds(names)) => feedHooks({ kept, maxAge })
    const rowsOf = async (
      query: z.output<typeof videoQuery>,
      { strangers, ...of }: { scope: VideoListScope; viewer: Viewer; nsfw: boolean | undefined; strangers?: boolean },
    ) => {
      const listed = { ...query, start: 0, count: config().feeds.videos.count, skipCount: true }
      const asked = toListQuery(listed, { ...of, reader: of.viewer?.accountId ?? null, ownHost: urls.host })
      const { rows } = await listVideos(db, {
        ...asked,
        strangers,
        skipCount: true,
        include: { files: true, description: true },
      })
      return rows
    }

    app.get(
      '/feeds/videos.:format',
      {
        ...hooks(videoNames),
        schema: {
          tags,
          operationId: 'getSyndicatedVideos',
          params: byFormat,
          querystring: videoQuery,
          response: document,
        },
      },
      async (request, reply) => {
        const { query } = request
        assertMayList(query, null)
        const { head, scope } = await ownerOf(query)
        const nsfw = nsfwFilter(query, undefined)
        const strangers = scope.of !== 'everybody' && seesStrangers({ config }, false)
        const rows = await rowsOf(query, { scope, viewer: null, nsfw, strangers })
        const self = selfOf('/feeds/videos', request, videoNames)
        const dates = rows.map((row) => row.published_at)
        const items = await mapInSlices(rows, (row) => toVideoItem(row, urls))
        return send(reply, formatOf(request), { head: headFor(head, self, dates), items })
      },
    )

    app.get(
      '/feeds/subscriptions.:format',
      {
        ...feedHooks({ maxAge, isPrivate: true }),
        schema: {
          tags,
          operationId: 'getSyndicatedSubscriptionVideos',
          params: byFormat,
          querystring: subscriptionQuery,
          response: document,
        },
      },
      async (request, reply) => {
        const { accountId, token, ...query } = request.query
        const subscriber = await findSubscriber(db, { accountId, token })
        if (!subscriber) throw notFound('Account not found')
        if (subscriber === 'wrong') throw new DomainError('forbidden', 'User and token mismatch')
        // The token grants the user's view, without rights of the staff.
        assertMayList({ ...query, excludeAlreadyWatched: undefined }, null)
        const rows = await rowsOf(query, {
          scope: { of: 'followed', followerActorId: subscriber.actorId },
          viewer: { accountId: subscriber.accountId, role: subscriber.role },
          nsfw: nsfwFilter(query, await nsfwPolicyOf(db, subscriber.userId)),
        })
        const self = selfOf('/feeds/subscriptions', request, subscriptionNames)
        const dates = rows.map((row) => row.published_at)
        const items = await mapInSlices(rows, (row) => toVideoItem(row, urls))
        return send(reply, formatOf(request), {
          head: headFor(headOfAccount(subscriber.account, urls), self, dates),
          items,
        })
      },
    )

    app.get(
      '/feeds/video-comments.:format',
      {
        ...hooks(commentNames),
        schema: {
          tags,
          operationId: 'getSyndicatedComments',
          params: byFormat,
          querystring: commentFeedQuery,
          response: document,
        },
      },
      async (request, reply) => {
        const { videoId: key, ...wanted } = request.query
        if (key && (wanted.videoChannelId !== undefined || wanted.videoChannelName !== undefined)) {
          throw new HttpError(400, 'videoId cannot be mixed with a channel filter')
        }
        const seen = key && (await visibleVideo({ db, config }, request, key))
        answers?.isAbout(request, seen ? seen.id : 'any')
        const hasFilter = Object.values(wanted).some((value) => value !== undefined)
        const { head: owner, scope } = await ownerOf(wanted)
        const video = key && !hasFilter ? await findVideoDetails(db, key) : undefined
        const { author: _author, ...head } = video ? headOfVideo(video, urls) : owner
        const rows = await listFeedComments(db, {
          videoId: seen?.id,
          accountId: scope.of === 'account' ? scope.accountId : undefined,
          channelId: scope.of === 'channel' ? scope.channelId : undefined,
          nsfw: config().instance.default_nsfw_policy !== 'do_not_list',
          count: config().feeds.comments.count,
        })
        const self = selfOf('/feeds/video-comments', request, commentNames)
        const dates = rows.map((row) => row.created_at)
        const items = await mapInSlices(rows, (row) => toCommentItem(row, urls))
        return send(reply, formatOf(request), { head: headFor(head, self, dates), items })
      },
    )

    app.get(
      '/feeds/podcast/videos.xml',
      {
        ...feedHooks({ kept: answers?.ofFeeds(podcastNames), maxAge, format: 'podcast' }),
        schema: { tags, operationId: 'getVideosPodcastFeed', querystring: podcastQuery, response: document },
      },
      async (request, reply) => {
        const found = await findFeedChannel(db, { id: request.query.videoChannelId })
        if (!found) throw notFound('Video channel not found')
        const { channel, account } = found
        const asked: VideoListQuery = {
          scope: { of: 'channel', channelId: channel.id },
          internal: false,
          // Directories list a podcast once, on its own server.
          isLocal: true,
          start: 0,
          count: config().feeds.videos.count,
          skipCount: true,
          mutedFor: null,
          sort: { by: 'publishedAt', descending: true },
          nsfw: nsfwFilter({}, undefined),
          include: { files: true, description: true },
        }
        const { rows } = await listVideos(db, { ...asked, isLive: false })
        const { rows: lives } = await listVideos(db, { ...asked, isLive: true, unpublished: 'waiting-for-live' })
        const self = selfOf('/feeds/podcast/videos.xml', request, podcastNames)
        const dates = [...rows, ...lives].map((row) => row.published_at)
        const head = headFor(headOfChannel(channel, urls), self, dates)
        return reply
          .header('content-type', contentTypeOf('podcast'))
          .send(await writePodcast({ head, account, email: podcastEmail(config()), here: urls }, { rows, lives }))
      },
    )
  }
}
