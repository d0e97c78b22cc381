// Notifications as REST clients read them, and as they are pushed.

import { z } from 'zod'
import type { ActorInfoRow, NotificationRow, VideoInfoRow } from '../../actors/notification/index.ts'
import { shortName, typeOf } from '../../actors/plugin/index.ts'
import { labelled, languageLabels } from '../../actors/video/index.ts'
import { toShortUuid } from '../../platform/ids.ts'

const date = z.iso.datetime()
const actorInfo = z.object({
  id: z.int(),
  displayName: z.string(),
  name: z.string(),
  host: z.string(),
  avatars: z.array(z.object({ width: z.int().nullable(), path: z.string() })),
})
const videoInfo = z.object({ id: z.int(), uuid: z.string(), shortUUID: z.string(), name: z.string() })

export const notificationView = z
  .object({
    id: z.int(),
    type: z.int(),
    read: z.boolean(),
    video: videoInfo.extend({ channel: actorInfo }).optional(),
    comment: z
      .object({
        id: z.int(),
        threadId: z.int(),
        account: actorInfo,
        video: videoInfo,
        heldForReview: z.boolean(),
      })
      .optional(),
    abuse: z
      .object({
        id: z.int(),
        state: z.int(),
        video: videoInfo.optional(),
        comment: z.object({ threadId: z.int(), video: videoInfo }).optional(),
        account: actorInfo.optional(),
      })
      .optional(),
    videoBlacklist: z.object({ id: z.int(), video: videoInfo }).optional(),
    videoImport: z
      .object({
        id: z.int(),
        video: videoInfo.optional(),
        torrentName: z.string().nullable(),
        magnetUri: z.string().optional(),
        targetUri: z.string().nullable(),
        targetUrl: z.string().optional(),
      })
      .optional(),
    actorFollow: z
      .object({
        id: z.int(),
        state: z.string(),
        follower: actorInfo,
        following: z.object({
          type: z.enum(['account', 'channel', 'instance']),
          displayName: z.string(),
          name: z.string(),
          host: z.string(),
        }),
      })
      .optional(),
    account: actorInfo.optional(),
    registration: z.object({ id: z.int(), username: z.string() }).optional(),
    videoCaption: z.object({ id: z.int(), language: z.object({ id: z.string(), label: z.string() }), video: videoInfo }).optional(),
    plugin: z.object({ name: z.string(), type: z.int(), latestVersion: z.string() }).optional(),
    peertube: z.object({ latestVersion: z.string() }).optional(),
    createdAt: date,
    updatedAt: date,
  })
  .meta({ id: 'UserNotification' })

export type NotificationView = z.infer<typeof notificationView>

const ABUSE_STATES = { pending: 1, rejected: 2, accepted: 3 }

/** `host`: of this server. */
export function toNotificationView(row: NotificationRow, host: string): NotificationView {
  const toActor = (actor: ActorInfoRow) => toActorInfo(actor, host)
  const { id, type, read, video, comment, abuse, block, follow, account, registration } = row
  return {
    id,
    type,
    read,
    ...(video && { video: { ...toVideoInfo(video), channel: toActor(video.channel) } }),
    ...(comment?.account && {
      comment: {
        id: comment.id,
        threadId: comment.thread_id,
        account: toActor(comment.account),
        video: toVideoInfo(comment.video),
        heldForReview: comment.held,
      },
    }),
    ...(abuse && {
      abuse: {
        id: abuse.id,
        state: ABUSE_STATES[abuse.state],
        ...(abuse.video && { video: toVideoInfo(abuse.video) }),
        ...(abuse.comment && {
          comment: { threadId: abuse.comment.thread_id, video: toVideoInfo(abuse.comment.video) },
        }),
        ...(abuse.account && { account: toActor(abuse.account) }),
      },
    }),
    ...(block && { videoBlacklist: { id: block.id, video: toVideoInfo(block.video) } }),
    ...(row.import && { videoImport: toImport(row.import) }),
    ...(follow && {
      actorFollow: {
        id: follow.id,
        state: follow.state,
        follower: toActor(follow.follower),
        following: {
          type: follow.following.type,
          displayName: follow.following.name,
          name: follow.following.username,
          host: follow.following.host ?? host,
        },
      },
    }),
    ...(account && { account: toActor(account) }),
    ...(registration && { registration }),
    ...(row.caption && {
      videoCaption: {
        id: row.caption.id,
        language: labelled(languageLabels, row.caption.language),
        video: toVideoInfo(row.caption.video),
      },
    }),
    ...(row.plugin && {
      plugin: { name: shortName(row.plugin.npm_name), type: typeOf(row.plugin.npm_name), latestVersion: row.plugin.latest_version ?? '' },
    }),
    ...(row.application_version !== null && { peertube: { latestVersion: row.application_version } }),
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  }
}

const toVideoInfo = ({ id, uuid, name }: VideoInfoRow): z.infer<typeof videoInfo> => ({
  id,
  uuid,
  name,
  shortUUID: toShortUuid(uuid),
})

const toActorInfo = (actor: ActorInfoRow, host: string): z.infer<typeof actorInfo> => ({
  id: actor.id,
  displayName: actor.name,
  name: actor.username,
  host: actor.host ?? host,
  avatars: actor.avatars.map(({ width, filename }) => ({ width, path: `/lazy-static/avatars/${filename}` })),
})

const toImport = (row: NonNullable<NotificationRow['import']>): NonNullable<NotificationView['videoImport']> => ({
  id: row.id,
  ...(row.video && { video: toVideoInfo(row.video) }),
  torrentName: row.torrent_name,
  ...(row.magnet_uri !== null && { magnetUri: row.magnet_uri }),
  targetUri: row.target_url,
  ...(row.target_url !== null && { targetUrl: row.target_url }),
})
