// Writes of captions in the transactions of other nouns.

import type { FileRef } from '../../media/index.ts'
import type { Unit } from '../runtime/index.ts'

export interface RemoteCaption {
  language: string
  fileUrl: string
  automaticallyGenerated: boolean
}

/** The captions of a remote video. A file with a new URL gets a new local name, so that no cache shows the old one. */
export async function replaceRemoteCaptions(unit: Unit, videoId: number, captions: RemoteCaption[]): Promise<void> {
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

/** Replaces captions by retimed ones; captions that a user set meanwhile fit the new file already. */
export async function deleteRetimedCaptions(unit: Unit, videoId: number): Promise<FileRef[]> {
  const replaced = await unit.query<{ language: string; generated: boolean; filename: string; created: Date }>(
    `delete from video_caption c using video_coming_file f
     where c.video_id = $1 and f.video_id = $1 and f.kind = 'captions' and c.filename = f.replaces
     returning c.language, c.automatically_generated as generated, f.filename, c.created_at as created`,
    [videoId],
  )
  if (replaced.length === 0) return []
  await unit.query(
    `insert into video_caption (video_id, language, filename, automatically_generated, created_at, updated_at)
     select $1, c.language, c.filename, c.generated, c.created, $3 from jsonb_to_recordset($2)
       as c(language text, generated boolean, filename text, created timestamptz)`,
    [videoId, JSON.stringify(replaced), unit.now],
  )
  return replaced.map(({ filename }) => ({ kind: 'captions', name: filename }))
}
