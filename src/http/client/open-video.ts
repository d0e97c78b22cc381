// The video of a page that everybody with its link may watch.

import { findVideoDetails, isOpen, type VideoDetailsRow, videoPrivacies } from '../../actors/video/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { idOrUuid } from '../plugins/schemas.ts'

const videoKey = idOrUuid('video')

/** Undefined when there is none. Unlisted ones are not found by their number. */
export async function openVideo(db: Database, id: string): Promise<VideoDetailsRow | undefined> {
  const key = videoKey.safeParse(id).data
  const video = key && (await findVideoDetails(db, key))
  if (!video || !isOpen(video)) return undefined
  return key && 'id' in key && video.privacy !== videoPrivacies.public ? undefined : video
}
