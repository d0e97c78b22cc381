// The passwords of a video: validation, and their rows, in the transaction that locks the video.

import { DomainError, type Unit } from '../runtime/index.ts'

export async function dropPasswords(unit: Unit, videoId: number): Promise<void> {
  await unit.query('delete from video_password where video_id = $1', [videoId])
}

/** Stores each once, in order, normalised (NFC) for comparison. */
export async function insertPasswords(unit: Unit, videoId: number, passwords: readonly string[]): Promise<void> {
  await unit.query(
    `insert into video_password (video_id, password, created_at, updated_at)
     select $1, word, $3, $3 from unnest((select $2::text[])) with ordinality as given(word, place) order by place`,
    [videoId, [...new Set(passwords.map((password) => password.normalize('NFC')))], unit.now],
  )
}

const MOST = 100
const [SHORTEST, LONGEST] = [2, 99]

/** Throws `invalid` unless there are 1 to 100 distinct passwords of 2 to 99 characters. */
export function refuseBadPasswords(passwords: readonly string[]): void {
  const because = (text: string): DomainError => new DomainError('invalid', text)
  if (passwords.length === 0) throw because('A protected video needs one password at least.')
  if (passwords.length > MOST) throw because(`A video can have ${MOST} passwords at most.`)
  if (passwords.some(({ length }) => length < SHORTEST || length > LONGEST)) {
    throw because(`Passwords of videos have between ${SHORTEST} and ${LONGEST} characters.`)
  }
  if (new Set(passwords.map((password) => password.normalize('NFC'))).size < passwords.length)
    throw because('The same password is given twice.')
}
