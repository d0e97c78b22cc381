// Reports as REST clients read them: complete for moderators, reduced for the reporter.

import { z } from 'zod'
import {
  type AbuseMessageRow,
  type AbuseRow,
  predefinedReasonNames,
  type ReportedAccount,
  type ReportedChannel,
} from '../../actors/abuse/index.ts'
import { accountSummaryView, channelSummaryView, type Here, imageView, toActorSummary, toBannerViews } from '../videos/actor.view.ts'
import { type TokenOf, withFileToken } from '../videos/address-token.ts'

const date = z.iso.datetime()

const accountOfReport = accountSummaryView.extend({ hostRedundancyAllowed: z.boolean() })

const videoFields = {
  id: z.int(),
  uuid: z.string(),
  name: z.string(),
  nsfw: z.boolean(),
  startAt: z.int().nullable(),
  endAt: z.int().nullable(),
  deleted: z.boolean(),
  blacklisted: z.boolean(),
  thumbnailPath: z.string().optional(),
  channel: channelSummaryView
    .extend({
      hostRedundancyAllowed: z.boolean(),
      banners: z.array(imageView),
      description: z.string().nullable(),
      isLocal: z.boolean(),
    })
    .nullable(),
}

const commentView = z.object({
  id: z.int(),
  threadId: z.int(),
  text: z.string(),
  deleted: z.boolean(),
  video: z.object({ id: z.int(), name: z.string(), uuid: z.string() }),
})

const abuseFields = {
  id: z.int(),
  reason: z.string(),
  predefinedReasons: z.array(z.string()),
  flaggedAccount: accountOfReport,
  state: z.object({ id: z.int(), label: z.string() }),
  countMessages: z.int(),
  createdAt: date,
  updatedAt: date,
  comment: commentView.nullable(),
}

export const userAbuseView = z.object({ ...abuseFields, video: z.object(videoFields).nullable() }).meta({ id: 'UserAbuse' })

export const abuseView = z
  .object({
    ...abuseFields,
    video: z.object({ ...videoFields, countReports: z.int(), nthReport: z.int() }).nullable(),
    moderationComment: z.string().nullable(),
    reporterAccount: accountOfReport,
    countReportsForReporter: z.int(),
    countReportsForReportee: z.int(),
  })
  .meta({ id: 'Abuse' })

export const abuseMessageView = z
  .object({
    id: z.int(),
    createdAt: date,
    byModerator: z.boolean(),
    message: z.string(),
    account: accountSummaryView.nullable(),
  })
  .meta({ id: 'AbuseMessage' })

const STATES = {
  pending: { id: 1, label: 'Pending' },
  rejected: { id: 2, label: 'Rejected' },
  accepted: { id: 3, label: 'Accepted' },
}

const iso = (moment: string | Date): string => new Date(moment).toISOString()

/** A removed account has the id 0. */
const toAccount = (row: ReportedAccount, here: Here): z.infer<typeof accountOfReport> => ({
  ...(row.id === null
    ? {
        id: 0,
        name: row.username,
        displayName: row.username,
        url: row.url,
        avatars: [],
        host: URL.parse(row.url)?.host ?? here.host,
      }
    : toActorSummary(row, here)),
  hostRedundancyAllowed: false,
})

/** Null for a local channel; for a removed channel, the host comes from its URL. */
function hostOf({ host, url }: ReportedChannel, here: Here): string | null {
  if (host !== undefined) return host
  const kept = URL.parse(url)?.host
  return kept === undefined || kept === here.host ? null : kept
}

export interface AbuseViewOptions {
  here: Here
  tokenOf: TokenOf
}

const toVideo = async (video: NonNullable<AbuseRow['video']>, { start_at, end_at }: AbuseRow, { here, tokenOf }: AbuseViewOptions) => ({
  id: video.id,
  uuid: video.uuid,
  name: video.name,
  nsfw: video.nsfw,
  startAt: start_at,
  endAt: end_at,
  deleted: video.deleted,
  blacklisted: video.blocked,
  ...(video.thumbnail === null ? {} : { thumbnailPath: withFileToken(`/lazy-static/thumbnails/${video.thumbnail}`, await tokenOf(video)) }),
  channel: video.channel && {
    ...toActorSummary({ ...video.channel, host: hostOf(video.channel, here) }, here),
    hostRedundancyAllowed: false,
    banners: toBannerViews(video.channel.banners),
    description: video.channel.description,
    isLocal: hostOf(video.channel, here) === null,
  },
})

export async function toUserAbuseView(row: AbuseRow, options: AbuseViewOptions): Promise<z.infer<typeof userAbuseView>> {
  return {
    id: row.id,
    reason: row.reason,
    predefinedReasons: predefinedReasonNames(row.predefined_reasons),
    flaggedAccount: toAccount(row.reportee, options.here),
    state: STATES[row.state],
    countMessages: row.messages,
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
    video: row.video && (await toVideo(row.video, row, options)),
    comment: row.comment && {
      id: row.comment.id,
      threadId: row.comment.thread_id,
      text: row.comment.text,
      deleted: row.comment.deleted,
      video: row.comment.video,
    },
  }
}

export async function toAbuseView(row: AbuseRow, options: AbuseViewOptions): Promise<z.infer<typeof abuseView>> {
  const { video, ...view } = await toUserAbuseView(row, options)
  return {
    ...view,
    video: video && { ...video, countReports: row.video?.reports ?? 0, nthReport: row.video?.nth_report ?? 0 },
    moderationComment: row.moderation_comment,
    reporterAccount: toAccount(row.reporter, options.here),
    countReportsForReporter: row.reports_by_reporter,
    countReportsForReportee: row.reports_of_reportee,
  }
}

export const toAbuseMessageView = (row: AbuseMessageRow, here: Here): z.infer<typeof abuseMessageView> => ({
  id: row.id,
  createdAt: iso(row.created_at),
  byModerator: row.by_moderator,
  message: row.message,
  account: row.account && toActorSummary(row.account, here),
})
