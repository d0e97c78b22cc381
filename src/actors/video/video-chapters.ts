// The chapters that an owner sets.

import { type Chapter, replaceChapters } from '../chapter/index.ts'
import type { Viewer } from '../session/index.ts'
import type { ChangeParts } from './update-video.ts'

export type Chapters = ReturnType<typeof makeChapters>

export function makeChapters({ changeParts }: { changeParts: ChangeParts }) {
  return {
    /** Replaces the chapters. Throws `not_found` and `forbidden` like a change of the video. */
    replace: (videoId: number, by: NonNullable<Viewer>, chapters: readonly Chapter[]): Promise<void> =>
      changeParts(videoId, by, (unit) => replaceChapters(unit, videoId, chapters)),
  }
}
