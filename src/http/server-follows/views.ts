// A follow of the instance, as REST clients read it.

import { z } from 'zod'
import type { FollowActorRow, FollowRow } from '../../actors/follow/index.ts'
import { imageView, toAvatarViews, toBannerViews } from '../videos/actor.view.ts'

const actorView = z.object({
  url: z.string(),
  name: z.string(),
  host: z.string(),
  avatars: z.array(imageView),
  id: z.int(),
  hostRedundancyAllowed: z.boolean(),
  followingCount: z.int(),
  followersCount: z.int(),
  createdAt: z.iso.datetime(),
  banners: z.array(imageView),
})

export const followView = z
  .object({
    id: z.int(),
    follower: actorView,
    following: actorView,
    score: z.int(),
    state: z.enum(['pending', 'accepted', 'rejected']),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Follow' })

/** `score`: the base score of the configuration, as deliveries here depend on the host, not on the follow. */
export const toFollowView = (row: FollowRow, deps: { host: string; score: number }): z.infer<typeof followView> => ({
  id: row.id,
  follower: toActorView(row.follower, deps.host),
  following: toActorView(row.following, deps.host),
  score: deps.score,
  state: row.state as z.infer<typeof followView>['state'],
  createdAt: new Date(row.created_at).toISOString(),
  updatedAt: new Date(row.updated_at).toISOString(),
})

const toActorView = (row: FollowActorRow, ourHost: string): z.infer<typeof actorView> => ({
  url: row.url,
  name: row.name,
  host: row.host ?? ourHost,
  avatars: toAvatarViews(row.avatars),
  id: row.id,
  hostRedundancyAllowed: row.redundancy_allowed,
  followingCount: row.following_count,
  followersCount: row.followers_count,
  createdAt: new Date(row.created_at).toISOString(),
  banners: toBannerViews(row.banners),
})
