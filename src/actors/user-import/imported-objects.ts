// What was made of an archive's objects. Noted in the transaction in which it is made, so that an archive that is imported twice, or
// an import that died in the middle, doubles nothing; and looked up by what refers to an object by its old address.

import type { Sql } from '../../platform/database/index.ts'
import { sha256 } from '../../platform/ids.ts'
import type { Unit } from '../runtime/index.ts'

export type ImportedKind = 'channel' | 'video' | 'playlist'

export interface ImportedKey {
  /** Whose archive it is. */
  accountId: number
  kind: ImportedKind
  /** What names the object in archives, of whichever length. */
  key: string
}

/** It was made of the object already, by another import at the same time. */
export class AlreadyImported extends Error {
  override readonly name = 'AlreadyImported'
}

/** Whether what a row `o` tells of is still there. */
const IS_LIVING: Record<ImportedKind, string> = {
  channel: `exists (select from channel c where c.id = o.channel_id and c.state = 'active' and c.account_id = o.account_id)`,
  video: `exists (select from video v where v.id = o.video_id and v.state <> 'removed')`,
  playlist: 'o.playlist_id is not null',
}

/** The row of ours that was made of the object, unless that is gone. */
export async function findImported(query: Sql, { accountId, kind, key }: ImportedKey): Promise<number | undefined> {
  const [found] = await query<{ id: number }>(
    `select o.${kind}_id as id from imported_object o
     where o.account_id = $1 and o.kind = $2 and o.key_hash = $3 and ${IS_LIVING[kind]}`,
    [accountId, kind, sha256(key)],
  )
  return found?.id
}

/** In the transaction that makes the row. Throws AlreadyImported. */
export async function noteImported(unit: Unit, { accountId, kind, key }: ImportedKey, id: number): Promise<void> {
  const noted = await unit.query(
    `insert into imported_object as o (account_id, kind, key_hash, ${kind}_id, created_at) values ($1, $2, $3, $4, $5)
     on conflict (account_id, kind, key_hash) do update set ${kind}_id = excluded.${kind}_id, created_at = excluded.created_at
       where not (${IS_LIVING[kind]})
     returning o.id`,
    [accountId, kind, sha256(key), id, unit.now],
  )
  if (noted.length === 0) throw new AlreadyImported('This was imported already.')
}

/** The key of a channel: by its name, since a video of the archive tells no more of its channel than that, and the server of both. */
export const channelKey = (url: string, name: string): string => `${URL.parse(url)?.origin ?? ''} ${name}`
