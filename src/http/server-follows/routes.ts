// Follows of the instance, and its followers: `/server/following`, `/server/followers`.

import { z } from 'zod'
import type { Follows } from '../../actors/follow/index.ts'
import { cancelPendingRequest, type FollowListQuery, findFollowByHandle, listFollows } from '../../actors/follow/index.ts'
import { ignoreNotFound, notFound, type Tell } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { HttpError } from '../plugins/http-error.ts'
import { listOf } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { followBody, followersQuery, followingQuery, handleParam, hostOrHandleParam } from './schemas.ts'
import { followView, toFollowView } from './views.ts'

export interface ServerFollowsDeps {
  db: Database
  tell: Tell
  config: () => Config
  follows: Follows
  urls: { host: string }
  instanceActorId: () => Promise<number>
  /** True if a host answers a TLS handshake in plain HTTP, within `vireo.federation.follow.probe_timeout`. */
  speaksPlainHttp: (host: string) => Promise<boolean>
}

/** The one refusal that clients know in this shape. */
const nothingToFollow = z.object({ error: z.string() })

const TAGS = ['Instance Follows']

export function serverFollowsArea(deps: ServerFollowsDeps): Area {
  const { db, tell, config, follows, urls, instanceActorId, speaksPlainHttp } = deps
  const manage = { right: 'MANAGE_SERVER_FOLLOW' } as const

  async function list(query: Omit<FollowListQuery, 'instanceActorId'>) {
    const { total, rows } = await listFollows(db, { ...query, instanceActorId: await instanceActorId() })
    const view = { host: urls.host, score: config().vireo.federation.follow_score.base }
    return { total, data: rows.map((row) => toFollowView(row, view)) }
  }

  async function followerWith(handle: { name: string; host: string; text: string }): Promise<number> {
    const found = await findFollowByHandle(db, {
      localActorId: await instanceActorId(),
      direction: 'followers',
      name: handle.name,
      host: handle.host,
    })
    if (found === undefined) throw notFound(`Follower ${handle.text} not found.`)
    return found
  }

  return (app) => {
    app.get(
      '/api/v1/server/following',
      {
        schema: {
          tags: TAGS,
          querystring: followingQuery(config()),
          response: { 200: listOf(followView) },
        },
      },
      async ({ query: { sort, ...query } }) =>
        await list({ ...query, direction: 'following', sort: { column: sort.by, descending: sort.descending } }),
    )

    app.get(
      '/api/v1/server/followers',
      {
        schema: {
          tags: TAGS,
          querystring: followersQuery(config()),
          response: { 200: listOf(followView) },
        },
      },
      async ({ query: { sort, ...query } }) =>
        await list({ ...query, direction: 'followers', sort: { column: sort.by, descending: sort.descending } }),
    )

    app.post(
      '/api/v1/server/following',
      {
        config: manage,
        schema: { tags: TAGS, body: followBody(config).nullish(), response: { 204: z.null(), 400: nothingToFollow } },
      },
      async ({ body }, reply) => {
        const hosts = (body?.hosts ?? []).filter((host) => host.toLowerCase() !== urls.host)
        const handles = body?.handles ?? []
        if ((body?.hosts ?? []).length === 0 && handles.length === 0) {
          return reply.code(400).send({ error: 'You must provide at least one handle or one host.' })
        }
        for (const host of hosts) {
          if (await speaksPlainHttp(host)) throw new HttpError(500, `${host} is not served over HTTPS.`)
        }
        await tell.create(async (unit) => {
          for (const host of hosts) {
            unit.note({ domain: 'follows', action: 'create', id: 0, entity: { following: host } })
            unit.enqueue({ type: 'activitypub-follow', data: { host }, dedupeKey: `follow-${host.toLowerCase()}` })
          }
          for (const handle of handles) {
            unit.note({ domain: 'follows', action: 'create', id: 0, entity: { following: handle } })
            unit.enqueue({ type: 'activitypub-follow', data: { handle }, dedupeKey: `follow-${handle.toLowerCase()}` })
          }
        })
        return reply.code(204).send(null)
      },
    )

    app.delete(
      '/api/v1/server/following/:hostOrHandle',
      { config: manage, schema: { tags: TAGS, params: hostOrHandleParam(config), response: { 204: z.null() } } },
      async ({ params: { hostOrHandle } }, reply) => {
        const { name, host, text } = hostOrHandle
        // Also cancels a request to a server that could not be reached yet.
        const wasAsked = await cancelPendingRequest(db.query, { followerId: null, hostOrHandle: text })
        const found = await findFollowByHandle(db, {
          localActorId: await instanceActorId(),
          direction: 'following',
          name,
          host,
        })
        if (found !== undefined) await ignoreNotFound(follows.withdraw(found))
        else if (!wasAsked) throw notFound(`Follow ${text} not found.`)
        return reply.code(204).send(null)
      },
    )

    app.delete(
      '/api/v1/server/followers/:nameWithHost',
      { config: manage, schema: { tags: TAGS, params: handleParam(config), response: { 204: z.null() } } },
      async ({ params: { nameWithHost } }, reply) => {
        await follows.removeFollower(await followerWith(nameWithHost))
        return reply.code(204).send(null)
      },
    )

    for (const [verb, answer] of [
      ['accept', 'accepted'],
      ['reject', 'rejected'],
    ] as const) {
      app.post(
        `/api/v1/server/followers/:nameWithHost/${verb}`,
        { config: manage, schema: { tags: TAGS, params: handleParam(config), response: { 204: z.null() } } },
        async ({ params: { nameWithHost } }, reply) => {
          await follows.answerFollower(await followerWith(nameWithHost), answer)
          return reply.code(204).send(null)
        },
      )
    }
  }
}
