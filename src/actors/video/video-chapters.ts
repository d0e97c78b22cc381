// The chapters that an owner sets.

import { type Chapter, replaceChapters } from '../chapter/index.ts'
import type { Viewer } from '../session/index.ts'
import type { ChangeParts } from './update-video.ts'

export interface Chapters {
  /** Replaces the chapters. Throws `not_found` and `forbidden` like a change of the video. */
  replace(videoId: number, by: NonNullable<Viewer>, chapters: readonly Chapter[]): Promise<void>
}

export function makeChapters({ changeParts }: { changeParts: ChangeParts }): Chapters {
  return {
    replace: (videoId, by, chapters) => changeParts(videoId, by, (unit) => replaceChapters(unit, videoId, chapters)),
  }
}
