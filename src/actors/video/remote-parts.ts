// What hangs on a video of another server beside its files: captions, storyboard, what is special about a live, and
// where its chapters are.

import { type Chapter, replaceChapters } from '../chapter/index.ts'
import type { Unit } from '../runtime/index.ts'

export interface RemoteCaption {
  language: string
  fileUrl: string
  automaticallyGenerated: boolean
}

export interface RemoteStoryboard {
  fileUrl: string
  /** px */
  totalWidth: number
  totalHeight: number
  spriteWidth: number
  spriteHeight: number
  /** Seconds. */
  spriteDuration: number
}

export interface RemoteParts {
  /** One for each language. */
  captions: RemoteCaption[]
  storyboard: RemoteStoryboard | null
  live: { saveReplay: boolean; isPermanent: boolean; latencyMode: 1 | 2 | 3 } | null
  /** The chapters, or the address on the video's own server where they are to be read. */
  chapters: Chapter[] | { url: string }
}

/** In the transaction that holds the video: afterwards it has what the document says and nothing else. */
export async function replaceParts(unit: Unit, videoId: number, parts: RemoteParts): Promise<void> {
  await replaceCaptions(unit, videoId, parts.captions)
  await replaceStoryboard(unit, videoId, parts.storyboard)
  await replaceLive(unit, videoId, parts.live)
  if (Array.isArray(parts.chapters)) {
    await unit.query('update video set chapters_url = null, chapters_wanted_at = null where id = $1', [videoId])
    await replaceChapters(unit, videoId, parts.chapters)
  } else {
    await wantChapters(unit, videoId, parts.chapters.url)
  }
}

/** A file that has another address gets another name of ours, so that no cache shows the old one. */
async function replaceCaptions(unit: Unit, videoId: number, captions: RemoteCaption[]): Promise<void> {
  const rows = JSON.stringify(captions)
  const columns = 'language text, "fileUrl" text, "automaticallyGenerated" boolean'
  await unit.query(
    `delete from video_caption c where c.video_id = $1 and not exists (
       select 1 from jsonb_to_recordset($2) as n(${columns}) where n.language = c.language and n."fileUrl" = c.file_url)`,
    [videoId, rows],
  )
  await unit.query(
    `insert into video_caption (video_id, language, filename, file_url, automatically_generated, created_at, updated_at)
     select $1, n.language, gen_random_uuid() || '-' || n.language || '.vtt', n."fileUrl", n."automaticallyGenerated", $3, $3
     from jsonb_to_recordset($2) as n(${columns})
     on conflict (video_id, language) do update set automatically_generated = excluded.automatically_generated,
       updated_at = excluded.updated_at
     where video_caption.automatically_generated <> excluded.automatically_generated`,
    [videoId, rows, unit.now],
  )
}

async function replaceStoryboard(unit: Unit, videoId: number, storyboard: RemoteStoryboard | null): Promise<void> {
  await unit.query('delete from storyboard where video_id = $1 and file_url is distinct from $2', [videoId, storyboard?.fileUrl ?? null])
  if (storyboard === null) return
  await unit.query(
    `insert into storyboard (video_id, filename, file_url, total_width, total_height, sprite_width, sprite_height,
       sprite_duration, created_at, updated_at)
     values ($1, gen_random_uuid() || '.jpg', $2, $3, $4, $5, $6, $7, $8, $8)
     on conflict (video_id) do update set total_width = excluded.total_width, total_height = excluded.total_height,
       sprite_width = excluded.sprite_width, sprite_height = excluded.sprite_height,
       sprite_duration = excluded.sprite_duration`,
    [
      videoId,
      storyboard.fileUrl,
      storyboard.totalWidth,
      storyboard.totalHeight,
      storyboard.spriteWidth,
      storyboard.spriteHeight,
      storyboard.spriteDuration,
      unit.now,
    ],
  )
}

async function replaceLive(unit: Unit, videoId: number, live: RemoteParts['live']): Promise<void> {
  if (live === null) {
    await unit.query('delete from video_live where video_id = $1', [videoId])
    return
  }
  await unit.query(
    `insert into video_live (video_id, save_replay, permanent_live, latency_mode, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $5)
     on conflict (video_id) do update set save_replay = excluded.save_replay,
       permanent_live = excluded.permanent_live, latency_mode = excluded.latency_mode, updated_at = excluded.updated_at`,
    [videoId, live.saveReplay, live.isPermanent, live.latencyMode, unit.now],
  )
}

/**
 * Whoever reads them already sees that they are wanted again, and reads once more: the second job is for the case that
 * the first one is no more.
 */
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
