// The chapters of a video: set as a whole by its owner; before that, those of the description or the file.

import type { Retiming } from '../../media/index.ts'
import type { Unit } from '../runtime/index.ts'
import { listChapters } from './chapter.queries.ts'
import { areSame, type Chapter, chaptersOfDescription, chaptersOfFile, retimeChapters } from './chapters.ts'

/** Runs in the transaction that locks the video. The timecodes must be distinct. */
export async function replaceChapters(unit: Unit, videoId: number, chapters: readonly Chapter[]): Promise<void> {
  await unit.query('delete from video_chapter where video_id = $1', [videoId])
  if (chapters.length === 0) return
  await unit.query(
    `insert into video_chapter (video_id, timecode, title, created_at, updated_at)
     select $1, c.timecode, c.title, $3, $3 from jsonb_to_recordset($2) as c(timecode integer, title text)`,
    [videoId, JSON.stringify(chapters.map(({ timecode, title }) => ({ timecode, title }))), unit.now],
  )
}

/** The chapters of a new video: those in its description, or those that ffprobe found in its file. */
export async function startChapters(
  unit: Unit,
  videoId: number,
  { description, ofFile }: { description: string | null; ofFile: readonly unknown[] },
): Promise<void> {
  const described = chaptersOfDescription(description)
  await replaceChapters(unit, videoId, described.length > 0 ? described : chaptersOfFile(ofFile))
}

/** Chapters from a description follow its changes; those that a user set stay. */
export async function followDescription(unit: Unit, videoId: number, before: string | null, after: string | null): Promise<void> {
  const [described, nowDescribed] = [chaptersOfDescription(before), chaptersOfDescription(after)]
  if (areSame(described, nowDescribed) || !areSame(await listChapters(unit, videoId), described)) return
  await replaceChapters(unit, videoId, nowDescribed)
}

/** Runs in the transaction that replaces the file of a video by an edited one. */
export async function moveChapters(unit: Unit, videoId: number, retiming: Retiming): Promise<void> {
  const chapters = await listChapters(unit, videoId)
  if (chapters.length > 0) await replaceChapters(unit, videoId, retimeChapters(chapters, retiming))
}
