// The query of a list of videos: scope, filters, order, and optional columns.

export const videoSortFields = [
  'name',
  'duration',
  'createdAt',
  'publishedAt',
  'originallyPublishedAt',
  'views',
  'likes',
  'trending',
  'hot',
  'best',
  'localVideoFilesSize',
] as const

export type VideoSortField = (typeof videoSortFields)[number]

/** Whose videos. `owner`: all videos of an account, whatever their privacy and state. */
export type VideoListScope =
  | { of: 'everybody' }
  | { of: 'channel'; channelId: number }
  | { of: 'account'; accountId: number }
  /** Of the channels that a local actor follows. */
  | { of: 'followed'; followerActorId: number }
  | { of: 'owner'; accountId: number; channelId?: number | undefined }
  /** The history of an account, latest watch first, whatever the sort. */
  | { of: 'watched'; accountId: number }

/** Inclusive. */
export interface Span<T> {
  from?: T | undefined
  to?: T | undefined
}

export interface VideoListFilters {
  /** By default all. */
  nsfw?: boolean | undefined
  isLocal?: boolean | undefined
  isLive?: boolean | undefined
  categoryOneOf?: number[] | undefined
  licenceOneOf?: number[] | undefined
  /** `_unknown` stands for videos without a language. */
  languageOneOf?: string[] | undefined
  /** Lower case. */
  tagsOneOf?: string[] | undefined
  tagsAllOf?: string[] | undefined
  /** Automatic tags, case-sensitive. Only for users who may see all videos. */
  autoTagOneOf?: string[] | undefined
  hasHlsFiles?: boolean | undefined
  hasWebVideoFiles?: boolean | undefined
  search?: string | undefined
  /** With `search`: also similar names (trigrams). */
  alike?: boolean | undefined
  /** With `search`: only whole words, which many names have. */
  byWord?: boolean | undefined
  uuids?: string[] | undefined
  publishedAt?: Span<Date> | undefined
  originallyPublishedAt?: Span<Date> | undefined
  /** Seconds. */
  duration?: Span<number> | undefined
  /** Lower case; null for this server. */
  host?: string | null | undefined
  /** Excludes videos that this account watched. */
  notWatchedBy?: number | undefined
}

export interface VideoListQuery extends VideoListFilters {
  scope: VideoListScope
  /** Also internal videos, for local users. */
  internal: boolean
  start: number
  count: number
  sort: { by: VideoSortField | 'match'; descending: boolean }
  skipCount: boolean
  /** The total without mutes, if it is known. */
  totalUnmuted?: number | undefined
  /** Only for users who may see all videos. */
  privacyOneOf?: number[] | undefined
  /** True: also unpublished videos, only for users who may see all videos; `waiting-for-live`: also lives that wait for their stream. */
  unpublished?: boolean | 'waiting-for-live' | undefined
  /** Also videos that the instance blocked. Only for users who may see all videos. */
  blocked?: boolean | undefined
  /** Also remote videos that this instance does not follow. */
  strangers?: boolean | undefined
  /** One video requested by its address: also if it is unlisted. */
  named?: number | undefined
  /** Excludes owners muted by the instance or this account (null: by the instance alone). */
  mutedFor?: number | null | undefined
  /** The account whose position in each video is included. */
  watcher?: number | undefined
  include?: {
    files?: boolean
    /** The whole description; otherwise it is truncated. */
    description?: boolean
    source?: boolean
    automaticTags?: boolean
    /** Includes muted owners, with flags: muted by the instance or this account (null: by the instance alone). */
    mutedFor?: number | null | undefined
  }
}

/** Adds a value to the statement; returns its placeholder. */
export type Bind = (value: unknown) => string
