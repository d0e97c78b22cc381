// Accounts and channels of videos: short in lists, complete for a single video.

import { z } from 'zod'
import type { ActorImageRow, ActorProfile, ActorSummary } from '../../actors/actor/index.ts'
import type { ChannelRow } from '../../actors/channel/index.ts'

/** Properties of this server for views. */
export interface Here {
  /** Such as `https://video.example`. */
  origin: string
  host: string
  /** Public address of a file in object storage; undefined if this server proxies it. */
  objectAddress(file: { kind: 'web_videos' | 'streaming_playlists'; name: string }): string | undefined
  /** Origins to which readers of such files may be redirected. */
  bucketOrigins: readonly string[]
}

const date = z.iso.datetime()

export const imageView = z
  .object({
    width: z.int().nullable(),
    path: z.string(),
    fileUrl: z.string().optional(),
    createdAt: date,
    updatedAt: date,
  })
  .meta({ id: 'ActorImage' })

const summaryFields = {
  id: z.int(),
  displayName: z.string(),
  name: z.string(),
  url: z.string(),
  host: z.string(),
  avatars: z.array(imageView),
}

export const accountSummaryView = z.object(summaryFields).meta({ id: 'AccountSummary' })
export const channelSummaryView = z.object(summaryFields).meta({ id: 'VideoChannelSummary' })

const profileFields = {
  ...summaryFields,
  hostRedundancyAllowed: z.boolean(),
  followingCount: z.int(),
  followersCount: z.int(),
  createdAt: date,
  description: z.string().nullable(),
  updatedAt: date,
}

export const accountView = z.object({ ...profileFields, userId: z.int().optional() }).meta({ id: 'Account' })
export const channelView = z
  .object({
    ...profileFields,
    banners: z.array(imageView),
    support: z.string().nullable(),
    isLocal: z.boolean(),
    ownerAccount: accountView,
  })
  .meta({ id: 'VideoChannel' })

/** A channel with the statistics of its videos, if the list includes them. */
export const listedChannelView = channelView
  .extend({
    videosCount: z.int().optional(),
    viewsPerDay: z.array(z.object({ date, views: z.int() })).optional(),
    totalViews: z.int().optional(),
  })
  .meta({ id: 'VideoChannelWithStats' })

const toImageView =
  (folder: 'avatars' | 'banners') =>
  (row: ActorImageRow): z.infer<typeof imageView> => ({
    width: row.width,
    path: `/lazy-static/${folder}/${row.filename}`,
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  })

export const toAvatarViews = (rows: ActorImageRow[]) => rows.map(toImageView('avatars'))
export const toBannerViews = (rows: ActorImageRow[]) => rows.map(toImageView('banners'))

export function toActorSummary(row: ActorSummary, here: Here): z.infer<typeof accountSummaryView> {
  return {
    id: row.id,
    displayName: row.name,
    name: row.username,
    url: row.url,
    host: row.host ?? here.host,
    avatars: toAvatarViews(row.avatars),
  }
}

const toProfile = (row: ActorProfile, here: Here) => ({
  ...toActorSummary(row, here),
  hostRedundancyAllowed: false,
  followingCount: row.following,
  followersCount: row.followers,
  createdAt: new Date(row.created_at).toISOString(),
  description: row.description,
  updatedAt: new Date(row.updated_at).toISOString(),
})

export const toAccountView = (row: ActorProfile, here: Here): z.infer<typeof accountView> => ({
  ...toProfile(row, here),
  ...(row.user_id === null ? {} : { userId: row.user_id }),
})

export const toChannelView = (channel: ActorProfile, account: ActorProfile, here: Here): z.infer<typeof channelView> => ({
  ...toProfile(channel, here),
  banners: toBannerViews(channel.banners),
  support: channel.support,
  isLocal: channel.host === null,
  ownerAccount: toAccountView(account, here),
})

export function toListedChannelView({ channel, account, stats }: ChannelRow, here: Here): z.infer<typeof listedChannelView> {
  return {
    ...toChannelView(channel, account, here),
    ...(stats && {
      videosCount: stats.videos,
      viewsPerDay: stats.days.map(({ day, views }) => ({ date: new Date(day).toISOString(), views })),
      totalViews: stats.views,
    }),
  }
}
