// Videos as clients of the API read them: short in lists, and complete.

import { z } from 'zod'
import { trackersOf } from '../../actors/torrent/index.ts'
import {
  categoryLabels,
  commentsPolicyLabels,
  labelled,
  labelledState,
  languageLabels,
  licenceLabels,
  privacyLabels,
  type VideoDetailsRow,
  type VideoListRow,
  type VideoRow,
} from '../../actors/video/index.ts'
import { toShortUuid } from '../../platform/ids.ts'
import {
  accountSummaryView,
  accountView,
  channelSummaryView,
  channelView,
  type Here,
  toAccountView,
  toActorSummary,
  toChannelView,
} from './actor.view.ts'
import { type TokenOf, withFileToken } from './address-token.ts'
import { fileView, playlistView, sourceView, toFileViews, toSourceView } from './file.view.ts'

const date = z.iso.datetime()
const numbered = z.object({ id: z.int().nullable(), label: z.string() })
const scheduledUpdateView = z.object({ updateAt: date, privacy: z.int().nullable() })

const commonFields = {
  id: z.int(),
  uuid: z.uuid(),
  shortUUID: z.string(),
  url: z.string(),
  name: z.string(),
  category: numbered,
  licence: numbered,
  language: z.object({ id: z.string().nullable(), label: z.string() }),
  privacy: z.object({ id: z.int(), label: z.string() }),
  nsfw: z.boolean(),
  truncatedDescription: z.string().nullable(),
  description: z.string().nullable(),
  isLocal: z.boolean(),
  duration: z.int(),
  aspectRatio: z.number().nullable(),
  views: z.int(),
  viewers: z.int(),
  likes: z.int(),
  dislikes: z.int(),
  thumbnailPath: z.string().nullable(),
  previewPath: z.string().nullable(),
  embedPath: z.string(),
  createdAt: date,
  updatedAt: date,
  publishedAt: date,
  originallyPublishedAt: date.nullable(),
  isLive: z.boolean(),
  scheduledUpdate: scheduledUpdateView.optional(),
  /** Position of the requester. */
  userHistory: z.object({ currentTime: z.int() }).optional(),
}

/** Optional data of lists; the list of the user's own videos always has some of it. */
const additions = {
  state: numbered.optional(),
  waitTranscoding: z.boolean().optional(),
  blacklisted: z.boolean().optional(),
  blacklistedReason: z.string().nullable().optional(),
  blockedOwner: z.boolean().optional(),
  blockedServer: z.boolean().optional(),
  streamingPlaylists: z.array(playlistView).optional(),
  files: z.array(fileView).optional(),
  videoSource: sourceView.optional(),
  automaticTags: z.array(z.string()).optional(),
  tags: z.array(z.string()).optional(),
}

export const videoView = z
  .object({ ...commonFields, account: accountSummaryView, channel: channelSummaryView, ...additions })
  .meta({ id: 'Video' })

export const videoDetailsView = z
  .object({
    ...commonFields,
    account: accountView,
    channel: channelView,
    blacklisted: z.boolean(),
    blacklistedReason: z.string().nullable(),
    streamingPlaylists: z.array(playlistView),
    files: z.array(fileView),
    support: z.string().nullable(),
    descriptionPath: z.string(),
    tags: z.array(z.string()),
    commentsEnabled: z.boolean(),
    commentsPolicy: z.object({ id: z.int(), label: z.string() }),
    downloadEnabled: z.boolean(),
    waitTranscoding: z.boolean(),
    inputFileUpdatedAt: date.nullable(),
    state: numbered,
    trackerUrls: z.array(z.string()),
  })
  .meta({ id: 'VideoDetails' })

/** `VideoInclude` of the contract: bits of `include`. */
export const includes = {
  notPublished: 1,
  blacklisted: 2,
  blockedOwner: 4,
  files: 8,
  captions: 16,
  source: 32,
  automaticTags: 64,
  tags: 128,
} as const

export interface ListViewOptions {
  here: Here
  /** Bits of `includes`. */
  include: number
  tokenOf: TokenOf
}

export const toVideoViews = (rows: readonly VideoListRow[], options: ListViewOptions) =>
  Promise.all(rows.map((row) => toVideoView(row, options)))

export async function toVideoView(row: VideoListRow, { here, include, tokenOf }: ListViewOptions): Promise<z.infer<typeof videoView>> {
  const wants = (bit: number): boolean => (include & bit) !== 0
  const token = await tokenOf(row)
  const common = toCommon(row, token)
  return {
    ...common,
    description: common.truncatedDescription,
    account: toActorSummary(row.account, here),
    channel: toActorSummary(row.channel, here),
    ...(wants(includes.notPublished) ? toProgress(row) : {}),
    ...(wants(includes.blacklisted) ? { blacklisted: row.blocked, blacklistedReason: row.block_reason } : {}),
    ...(wants(includes.blockedOwner) ? toMuted(row) : {}),
    ...(wants(includes.files) ? toFileViews(row, here, token) : {}),
    ...(wants(includes.source) && row.source ? { videoSource: toSourceView(row.source, here) } : {}),
    ...(wants(includes.automaticTags) ? { automaticTags: row.automatic_tags ?? [] } : {}),
    ...(wants(includes.tags) ? { tags: row.tags } : {}),
  }
}

export async function toVideoDetailsView(
  row: VideoDetailsRow,
  { here, tokenOf }: Omit<ListViewOptions, 'include'>,
): Promise<z.infer<typeof videoDetailsView>> {
  const token = await tokenOf(row)
  return {
    ...toCommon(row, token),
    account: toAccountView(row.account, here),
    channel: toChannelView(row.channel, row.account, here),
    blacklisted: row.blocked,
    blacklistedReason: row.block_reason,
    ...toFileViews(row, here, token),
    support: row.support,
    descriptionPath: `/api/v1/videos/${row.uuid}/description`,
    tags: row.tags,
    commentsEnabled: row.comments_policy !== COMMENTS_DISABLED,
    commentsPolicy: labelled(commentsPolicyLabels, row.comments_policy),
    downloadEnabled: row.download_enabled,
    inputFileUpdatedAt: row.input_file_updated_at?.toISOString() ?? null,
    ...toProgress(row),
    trackerUrls: row.remote ? row.tracker_urls : Object.values(trackersOf(here.origin)),
  }
}

const COMMENTS_DISABLED = 2

function toCommon(row: VideoRow, token: string | undefined) {
  return {
    id: row.id,
    uuid: row.uuid,
    shortUUID: toShortUuid(row.uuid),
    url: row.url,
    name: row.name,
    category: labelled(categoryLabels, row.category),
    licence: labelled(licenceLabels, row.licence),
    language: labelled(languageLabels, row.language),
    privacy: labelled(privacyLabels, row.privacy),
    nsfw: row.nsfw,
    truncatedDescription: truncated(row.description),
    description: row.description,
    isLocal: !row.remote,
    duration: row.duration,
    aspectRatio: row.aspect_ratio,
    views: row.views,
    viewers: row.viewers,
    likes: row.likes,
    dislikes: row.dislikes,
    thumbnailPath: row.thumbnail && withFileToken(`/lazy-static/thumbnails/${row.thumbnail}`, token),
    previewPath: row.preview && withFileToken(`/lazy-static/previews/${row.preview}`, token),
    embedPath: `/videos/embed/${row.uuid}`,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    publishedAt: row.published_at.toISOString(),
    originallyPublishedAt: row.originally_published_at?.toISOString() ?? null,
    isLive: row.is_live,
    ...(typeof row.watched_seconds === 'number' ? { userHistory: { currentTime: row.watched_seconds } } : {}),
  }
}

const toMuted = (row: VideoListRow) => ({
  blockedOwner: row.blocked_owner ?? false,
  blockedServer: row.blocked_server ?? false,
})

/** What its owner is doing with it: in lists only on request and with the right. */
const toProgress = (row: VideoRow) => ({
  state: labelledState(row.state),
  waitTranscoding: row.wait_transcoding,
  ...(row.schedule ? { scheduledUpdate: { updateAt: new Date(row.schedule.update_at).toISOString(), privacy: row.schedule.privacy } } : {}),
})

const LONGEST = 250
const OMISSION = '...'

/** At most 250 UTF-16 units including the ellipsis, never cut within a character. */
export function truncated(text: string | null, longest = LONGEST): string | null {
  if (text === null || text.length <= longest) return text
  return text.slice(0, longest - OMISSION.length).replace(/[\ud800-\udbff]$/, '') + OMISSION
}
