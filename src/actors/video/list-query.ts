// What a list of videos may be asked for: whose videos, filtered by what, in which order, with what beside them.

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

/** Whose videos. `owner`: all that an account has, whatever their privacy and state. */
export type VideoListScope =
  | { of: 'everybody' }
  | { of: 'channel'; channelId: number }
  | { of: 'account'; accountId: number }
  /** Of the channels that a local actor follows. */
  | { of: 'followed'; followerActorId: number }
  | { of: 'owner'; accountId: number; channelId?: number | undefined }
  /** In the history of an account, what was watched last first, whatever the sort. */
  | { of: 'watched'; accountId: number }

/** Both ends belong to it. */
export interface Span<T> {
  from?: T | undefined
  to?: T | undefined
}

export interface VideoListFilters {
  /** Left out: all. */
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
  /** Tags that were given automatically, as they are written. Only for those who see all videos. */
  autoTagOneOf?: string[] | undefined
  hasHlsFiles?: boolean | undefined
  hasWebVideoFiles?: boolean | undefined
  search?: string | undefined
  /** With `search`: names that are much like it (trigrams) too, beside those that hold it. */
  alike?: boolean | undefined
  uuids?: string[] | undefined
  publishedAt?: Span<Date> | undefined
  originallyPublishedAt?: Span<Date> | undefined
  /** Seconds. */
  duration?: Span<number> | undefined
  /** Lower case; null for this server. */
  host?: string | null | undefined
  /** Without what this account watched. */
  notWatchedBy?: number | undefined
}

export interface VideoListQuery extends VideoListFilters {
  scope: VideoListScope
  /** Also internal videos, as users of this server see them. */
  internal: boolean
  start: number
  count: number
  sort: { by: VideoSortField | 'match'; descending: boolean }
  skipCount: boolean
  /** Only for those who see all videos. */
  privacyOneOf?: number[] | undefined
  /** Also videos that are not published (yet), only for those who see all videos; or, for everybody, lives that wait for their stream. */
  unpublished?: boolean | 'waiting-for-live' | undefined
  /** Also videos that the instance blocked. Only for those who see all videos. */
  blocked?: boolean | undefined
  /** Also videos of other servers that this instance does not follow. */
  strangers?: boolean | undefined
  /** One video that is asked for by its address: unlisted ones are shown too. */
  named?: number | undefined
  /** Without what the instance or this account (null: nobody more) mutes. */
  mutedFor?: number | null | undefined
  /** The account whose position in each video comes along. */
  watcher?: number | undefined
  include?: {
    files?: boolean
    /** The whole description, not only its beginning. */
    description?: boolean
    source?: boolean
    automaticTags?: boolean
    /** Who of the owners is muted, and their videos too: for this account (null: nobody more than the instance). */
    mutedFor?: number | null | undefined
  }
}

/** Takes a value into the statement, and answers its place. */
export type Bind = (value: unknown) => string
