// Standard activities around local documents, as outboxes and their own addresses show them.

import type { Urls } from '../urls.ts'
import { AS_PUBLIC, type Audience, buildAnnounce, buildCreate, buildDislike, buildLike, type JsonObject } from '../wire/index.ts'
import type { FoundComment } from './comment.ts'
import { type FoundPlaylist, playlistAudience } from './playlist.ts'
import { type FoundVideo, videoAudience } from './video.ts'

/** To the public, with the followers of the actor in copy. */
export const publicAudience = (urls: Urls, actorUrl: string): Audience => ({
  to: [AS_PUBLIC],
  cc: [urls.actorCollection(actorUrl, 'followers')],
})

/** The Create of a video by its account. */
export const createVideoActivity = (urls: Urls, video: FoundVideo): JsonObject =>
  buildCreate({
    id: urls.createOf(video.url),
    actor: video.accountUrl,
    object: video.document,
    ...videoAudience(urls, video),
  })

/** The Create of a comment by its author, addressed as it is sent or, by default, as it is read; null for a Tombstone. */
export function createCommentActivity(urls: Urls, comment: FoundComment, sentTo?: Audience): JsonObject | null {
  const { kind, authorUrl, url, document } = comment
  if (kind !== 'note' || authorUrl === null) return null
  const audience = sentTo ?? publicAudience(urls, authorUrl)
  return buildCreate({
    id: urls.createOf(url),
    actor: authorUrl,
    object: { ...document, ...audience },
    ...audience,
  })
}

/** The Create of a playlist by its account. */
export const createPlaylistActivity = (urls: Urls, playlist: FoundPlaylist): JsonObject =>
  buildCreate({
    id: urls.createOf(playlist.url),
    actor: playlist.accountUrl,
    object: playlist.document,
    ...playlistAudience(urls, playlist),
  })

export interface SharedVideo {
  /** Id of the share. */
  id: string
  actorUrl: string
  videoUrl: string
  privacy: number
  /** The owner of the video, whose followers are in copy. */
  accountUrl: string
}

/** The Announce of a video, addressed as the video is. */
export const announceActivity = (urls: Urls, share: SharedVideo): JsonObject =>
  buildAnnounce({ id: share.id, actor: share.actorUrl, target: share.videoUrl, ...videoAudience(urls, share) })

/** A Like or Dislike of a video. */
export function rateActivity(urls: Urls, rate: { id: string; type: 'like' | 'dislike'; actorUrl: string; videoUrl: string }): JsonObject {
  const build = rate.type === 'like' ? buildLike : buildDislike
  return build({
    id: rate.id,
    actor: rate.actorUrl,
    target: rate.videoUrl,
    ...publicAudience(urls, rate.actorUrl),
  })
}
