// Gives a video its new file: as a web video that plays at once, as the source of its renditions, or as both.

import type { Config } from '../../../config/index.ts'
import type { Unit } from '../../runtime/index.ts'
import { planTranscoding } from '../../transcoding/transcoding.writes.ts'
import { insertWebVideo } from '../new-video-rows.ts'
import type { Video } from '../video.entity.ts'
import { hasPrivateFiles } from '../video.policy.ts'
import type { FileDraft, WebVideoDraft } from './inspect-file.ts'
import type { PendingFiles } from './pending-files.ts'
import type { PlaceFiles } from './place-files.ts'
import { queueStoryboard } from './queue-storyboard.ts'
import { queueTorrents } from './queue-torrents.ts'

/** True if renditions are made from the file. */
const isTranscoded = ({ place }: Pick<FileDraft, 'place'>): boolean => place.kind === 'original_video_files'

/** The file as the video plays it from now on; null if the video waits for its renditions. */
export const playedAtOnce = (draft: FileDraft, { waitTranscoding }: { waitTranscoding: boolean }) =>
  isTranscoded(draft) && waitTranscoding ? null : draft.webVideo

/**
 * Runs in the transaction that locks the video, which has its id and its final privacy. `played` is the result of `playedAtOnce`. The files
 * of the draft are settled before.
 */
export async function takeFile(
  unit: Unit,
  video: Video,
  { draft, played }: { draft: FileDraft; played: WebVideoDraft | null },
  { config, pendingFiles, placeFiles }: { config: Config; pendingFiles: PendingFiles; placeFiles: PlaceFiles },
): Promise<void> {
  const isSource = isTranscoded(draft)
  if (isSource) await planTranscoding(unit, video.id, config.vireo.jobs.priorities.transcoding)
  else queueStoryboard(unit, video.id, config)
  if (played) {
    await insertWebVideo(unit, video.id, { webVideo: played, probe: draft.probe, provisional: isSource })
    queueTorrents(unit, video.id, config)
    if (played.ref.name.startsWith('private/') !== hasPrivateFiles(video)) placeFiles.ask(unit, video.id)
  } else if (draft.webVideo) await pendingFiles.condemn(unit.query, [draft.webVideo.ref])
}
