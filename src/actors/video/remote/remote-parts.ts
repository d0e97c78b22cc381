// Parts of a remote video beside its files: captions, storyboard, properties of a live, and the address of its chapters.

import { type RemoteCaption, replaceRemoteCaptions } from '../../caption/caption.writes.ts'
import { type Chapter, replaceChapters } from '../../chapter/index.ts'
import { type RemoteLive, replaceRemoteLive } from '../../live/live.writes.ts'
import type { Unit } from '../../runtime/index.ts'
import { type RemoteStoryboard, replaceRemoteStoryboard } from '../../storyboard/storyboard.writes.ts'

export interface RemoteParts {
  /** At most one per language. */
  captions: RemoteCaption[]
  storyboard: RemoteStoryboard | null
  live: RemoteLive | null
  /** The chapters, or their address on the video's own server. */
  chapters: Chapter[] | { url: string }
}

/** Runs in the transaction that locks the video. Replaces all parts by those of the document. */
export async function replaceParts(unit: Unit, videoId: number, parts: RemoteParts): Promise<void> {
  await replaceRemoteCaptions(unit, videoId, parts.captions)
  await replaceRemoteStoryboard(unit, videoId, parts.storyboard)
  await replaceRemoteLive(unit, videoId, parts.live)
  if (Array.isArray(parts.chapters)) {
    await unit.query('update video set chapters_url = null, chapters_wanted_at = null where id = $1', [videoId])
    await replaceChapters(unit, videoId, parts.chapters)
  } else {
    await wantChapters(unit, videoId, parts.chapters.url)
  }
}

/** A running reader sees that the chapters are requested again and reads once more. The second job is for the case that the reader died. */
async function wantChapters(unit: Unit, videoId: number, url: string): Promise<void> {
  const [before] = await unit.query<{ wanted_at: Date | null }>('select chapters_wanted_at as wanted_at from video where id = $1', [
    videoId,
  ])
  await unit.query('update video set chapters_url = $2, chapters_wanted_at = clock_timestamp() where id = $1', [videoId, url])
  const isAskedFor = before !== undefined && before.wanted_at !== null
  unit.enqueue({
    type: 'remote-chapters',
    data: { videoId },
    ...(isAskedFor ? { dedupeKey: `remote-chapters-${videoId}` } : {}),
  })
}
