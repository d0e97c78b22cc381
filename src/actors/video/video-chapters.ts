// The chapters that an owner sets.

import { type Chapter, replaceChapters } from '../chapter/index.ts'
import type { ChangeParts } from './update-video.ts'
import type { Viewer } from './video.policy.ts'

export interface Chapters {
  /** Puts these in the place of those before. Throws `not_found` and `forbidden` as a change of the video does. */
  replace(videoId: number, by: NonNullable<Viewer>, chapters: readonly Chapter[]): Promise<void>
}

export function makeChapters({ changeParts }: { changeParts: ChangeParts }): Chapters {
  return {
    replace: (videoId, by, chapters) => changeParts(videoId, by, (unit) => replaceChapters(unit, videoId, chapters)),
  }
}
