// The rows of a video's passwords, in the transaction that holds the video.

import type { Unit } from '../runtime/index.ts'

export async function dropPasswords(unit: Unit, videoId: number): Promise<void> {
  await unit.query('delete from video_password where video_id = $1', [videoId])
}

/** Stores each once, in their order, in the form in which they are compared (NFC). */
export async function insertPasswords(unit: Unit, videoId: number, passwords: readonly string[]): Promise<void> {
  await unit.query(
    `insert into video_password (video_id, password, created_at, updated_at)
     select $1, word, $3, $3 from unnest($2::text[]) with ordinality as given(word, place) order by place`,
    [videoId, [...new Set(passwords.map((password) => password.normalize('NFC')))], unit.now],
  )
}
