// Playlists and their elements as clients of the API read them.

import { z } from 'zod'
import { type ElementRow, type PlaylistRow, playlistPrivacies, playlistTypes } from '../../actors/playlist/index.ts'
import type { Viewer } from '../../actors/session/index.ts'
import { videoPrivacies } from '../../actors/video/index.ts'
import { toShortUuid } from '../../platform/ids.ts'
import { accountSummaryView, channelSummaryView, type Here, toActorSummary } from '../videos/actor.view.ts'
import type { TokenOf } from '../videos/address-token.ts'
import { toVideoView, videoView } from '../videos/video.view.ts'

const date = z.iso.datetime()
const numbered = z.object({ id: z.int(), label: z.string() })

export const playlistView = z
  .object({
    id: z.int(),
    uuid: z.uuid(),
    shortUUID: z.string(),
    isLocal: z.boolean(),
    url: z.string(),
    displayName: z.string(),
    description: z.string().nullable(),
    privacy: numbered,
    thumbnailPath: z.string().nullable(),
    embedPath: z.string(),
    type: numbered,
    videosLength: z.int(),
    createdAt: date,
    updatedAt: date,
    ownerAccount: accountSummaryView,
    videoChannel: channelSummaryView.nullable(),
  })
  .meta({ id: 'VideoPlaylist' })

export const playlistPrivacyLabels: Record<number, string> = {
  [playlistPrivacies.public]: 'Public',
  [playlistPrivacies.unlisted]: 'Unlisted',
  [playlistPrivacies.private]: 'Private',
}

const TYPE_LABELS: Record<number, string> = {
  [playlistTypes.regular]: 'Regular',
  [playlistTypes.watchLater]: 'Watch later',
}

const labelled = (labels: Record<number, string>, id: number) => ({ id, label: labels[id] ?? 'Unknown' })

export const toPlaylistView = (row: PlaylistRow, here: Here): z.infer<typeof playlistView> => ({
  id: row.id,
  uuid: row.uuid,
  shortUUID: toShortUuid(row.uuid),
  isLocal: !row.remote,
  url: row.url,
  displayName: row.name,
  description: row.description,
  privacy: labelled(playlistPrivacyLabels, row.privacy),
  thumbnailPath: row.thumbnail && `/lazy-static/thumbnails/${row.thumbnail}`,
  embedPath: `/video-playlists/embed/${row.uuid}`,
  type: labelled(TYPE_LABELS, row.type),
  videosLength: row.elements_count,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  ownerAccount: toActorSummary(row.account, here),
  videoChannel: row.channel && toActorSummary(row.channel, here),
})

/** `VideoPlaylistElementType` of the contract. */
export const elementTypes = { regular: 0, deleted: 1, private: 2, unavailable: 3 } as const

export const elementView = z
  .object({
    id: z.int(),
    position: z.int(),
    startTimestamp: z.int().nullable(),
    stopTimestamp: z.int().nullable(),
    type: z.int(),
    video: videoView.nullable(),
  })
  .meta({ id: 'VideoPlaylistElement' })

/** For a video that the viewer may not see, only its position is shown. */
export async function toElementView(
  row: ElementRow,
  viewer: Viewer,
  { here, tokenOf, strangers }: { here: Here; tokenOf: TokenOf; strangers: boolean },
): Promise<z.infer<typeof elementView>> {
  const type = elementTypeOf(row, viewer, { strangers })
  return {
    id: row.element_id,
    position: row.position,
    startTimestamp: row.start_timestamp,
    stopTimestamp: row.stop_timestamp,
    type,
    video: type === elementTypes.regular && row.video ? await toVideoView(row.video, { here, include: 0, tokenOf }) : null,
  }
}

const OPEN: readonly number[] = [videoPrivacies.public, videoPrivacies.unlisted]

/**
 * The type of an element for the viewer: only `regular` ones contain their video. `strangers`: whether the viewer may request videos that
 * the instance does not follow.
 */
export function elementTypeOf(
  { video, owner_account_id, muted }: ElementRow,
  viewer: Viewer,
  { strangers }: { strangers: boolean },
): number {
  if (!video) return elementTypes.deleted
  if (viewer?.accountId === owner_account_id) return elementTypes.regular
  const isSeen = OPEN.includes(video.privacy) || (video.privacy === videoPrivacies.internal && viewer !== null)
  if (!isSeen) return elementTypes.private
  const isClosed = video.remote && !video.listed && !strangers
  return video.blocked || muted || isClosed ? elementTypes.unavailable : elementTypes.regular
}
