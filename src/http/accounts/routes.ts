// Public accounts, with their channels and videos; for their owners also ratings and followers.

import { z } from 'zod'
import { type FoundAccount, findAccount, listAccounts } from '../../actors/account/index.ts'
import type { LookedAtActor } from '../../actors/actor/index.ts'
import { listChannels } from '../../actors/channel/index.ts'
import { type Follows, followsAccount, listFollowers } from '../../actors/follow/index.ts'
import { listRatings } from '../../actors/rating/index.ts'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import type { Session } from '../../actors/session/index.ts'
import { seesAllVideos } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { toActorHandle } from '../plugins/handles.ts'
import { booleanText, idText, listOf, paging, sorting } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { followView, toFollowView } from '../server-follows/views.ts'
import { channelSortFields } from '../video-channels/fields.ts'
import { accountView, type Here, listedChannelView, toAccountView, toListedChannelView } from '../videos/actor.view.ts'
import { noTokens } from '../videos/address-token.ts'
import { listQuery } from '../videos/list.ts'
import { makeVideoPageOf } from '../videos/list-page.ts'
import type { VideoResponseCache } from '../videos/response-cache.ts'
import { toVideoViews, videoView } from '../videos/video.view.ts'
import type { VideoPages } from '../videos/video-pages.ts'
import { viewerOf } from '../videos/viewer.ts'

const tags = ['Accounts']
const params = z.object({ name: z.string() })
const ratedView = z.object({ video: videoView, rating: z.enum(['like', 'dislike']) })

export function accountsArea(deps: {
  db: Database
  config: () => Config
  urls: Here
  videoPages: VideoPages
  follows: Pick<Follows, 'removeFollower'>
  /** Called for each view of an account. */
  lookedAtActor: LookedAtActor
  /** Cache of responses; without it each is built again. */
  answers?: VideoResponseCache
}): Area {
  const { db, config, urls, lookedAtActor, answers, follows } = deps
  const videosQuery = listQuery(config())
  const videoPageOf = makeVideoPageOf(deps)
  const byDate = () => ({ ...paging(config()), sort: sorting(['createdAt'], '-createdAt') })

  async function accountOf(handle: string): Promise<FoundAccount> {
    const account = await findAccount(db, toActorHandle(handle, urls.host))
    if (!account) throw notFound('Account not found')
    return account
  }

  async function ownAccountOf(handle: string, session: Session): Promise<FoundAccount> {
    const account = await accountOf(handle)
    if (account.id === session.user.accountId) return account
    throw new DomainError('forbidden', 'Only the owner of this account may see this.')
  }

  return (app) => {
    app.get(
      '/api/v1/accounts',
      {
        config: { auth: 'optional' },
        schema: { tags, querystring: z.object(byDate()), response: { 200: listOf(accountView) } },
      },
      async ({ query, session }) => {
        const { total, rows } = await listAccounts(db, { ...query, mutedFor: session?.user.accountId ?? null })
        return { total, data: rows.map((row) => toAccountView(row, urls)) }
      },
    )

    app.get('/api/v1/accounts/:name', { schema: { tags, params, response: { 200: accountView } } }, async (request) => {
      const account = await accountOf(request.params.name)
      lookedAtActor(account.seen)
      return toAccountView(account, urls)
    })

    app.get(
      '/api/v1/accounts/:name/videos',
      {
        config: { auth: 'optional' },
        ...answers?.ofLists(Object.keys(videosQuery.shape)),
        schema: { tags, params, querystring: videosQuery, response: { 200: listOf(videoView) } },
      },
      (request) =>
        videoPageOf(request, async () => {
          const { id: accountId, host } = await accountOf(request.params.name)
          return { scope: { of: 'account', accountId }, isRemote: host !== null }
        }),
    )

    app.get(
      '/api/v1/accounts/:name/video-channels',
      {
        // The owner's counts include videos that others do not see.
        config: { auth: 'optional' },
        schema: {
          tags: ['Video Channels'],
          params,
          querystring: z.object({
            ...paging(config()),
            sort: sorting(channelSortFields, '-createdAt'),
            withStats: booleanText.optional(),
          }),
          response: { 200: listOf(listedChannelView) },
        },
      },
      async ({ params: { name }, query: { withStats, ...query }, session }) => {
        const { id: accountId } = await accountOf(name)
        const viewer = viewerOf(session)
        const seesAll = viewer?.accountId === accountId || seesAllVideos(viewer)
        const stats = withStats ? (seesAll ? 'all' : 'public') : undefined
        const mutedFor = seesAll ? undefined : (viewer?.accountId ?? null)
        const { total, rows } = await listChannels(db, { ...query, accountId, stats, mutedFor })
        return { total, data: rows.map((row) => toListedChannelView(row, urls)) }
      },
    )

    app.get(
      '/api/v1/accounts/:name/ratings',
      {
        config: { auth: 'user' },
        schema: {
          tags,
          params,
          querystring: z.object({ ...byDate(), rating: z.enum(['like', 'dislike']).optional() }),
          response: { 200: listOf(ratedView) },
        },
      },
      async (request) => {
        const { id: accountId } = await ownAccountOf(request.params.name, sessionOf(request))
        const { total, rows } = await listRatings(db, { ...request.query, accountId })
        return {
          total,
          // Clients expect this list without pictures.
          data: (await toVideoViews(rows, { here: urls, include: 0, tokenOf: noTokens })).map((video, index) => ({
            video: { ...video, thumbnailPath: null, previewPath: null },
            rating: rows[index]?.rating ?? 'like',
          })),
        }
      },
    )

    app.get(
      '/api/v1/accounts/:name/followers',
      {
        config: { auth: 'user' },
        schema: {
          tags,
          params,
          querystring: z.object({ ...byDate(), search: z.string().max(500).optional() }),
          response: { 200: listOf(followView) },
        },
      },
      async (request) => {
        const { id: accountId } = await ownAccountOf(request.params.name, sessionOf(request))
        const { total, rows } = await listFollowers(db, { ...request.query, of: { accountId } })
        const view = { host: urls.host, score: config().vireo.federation.follow_score.base }
        return { total, data: rows.map((row) => toFollowView(row, view)) }
      },
    )

    app.delete(
      '/api/v1/vireo/followers/:id',
      {
        config: { auth: 'user' },
        schema: {
          operationId: 'removeOwnFollower',
          summary: 'Remove a follower of the own account or of one of the own channels, which may follow again',
          tags,
          params: z.object({ id: idText }),
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        const { id } = request.params
        if (!(await followsAccount(db, id, sessionOf(request).user.accountId))) throw notFound('Follower not found')
        await follows.removeFollower(id)
        return reply.code(204).send(null)
      },
    )
  }
}
