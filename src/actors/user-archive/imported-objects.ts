// Records which rows were made from an archive's objects. The record is stored in the transaction that makes the row, so that importing an
// archive twice, or resuming an import, duplicates nothing. Later items find an object by its old address here.

import type { Sql } from '../../platform/database/index.ts'
import { sha256 } from '../../platform/ids.ts'
import type { Unit } from '../runtime/index.ts'

export type ImportedKind = 'channel' | 'video' | 'playlist'

export interface ImportedKey {
  /** The importing account. */
  accountId: number
  kind: ImportedKind
  /** The name of the object in archives, of any length. */
  key: string
}

/** A concurrent import has made the row already. */
export class AlreadyImported extends Error {
  override readonly name = 'AlreadyImported'
}

/** SQL: true if the row that a record `o` names still exists. */
const IS_LIVING: Record<ImportedKind, string> = {
  channel: `exists (select from channel c where c.id = o.channel_id and c.state = 'active' and c.account_id = o.account_id)`,
  video: `exists (select from video v where v.id = o.video_id and v.state <> 'removed')`,
  playlist: 'o.playlist_id is not null',
}

/** The local row that was made from the object, unless it is removed. */
export async function findImported(query: Sql, { accountId, kind, key }: ImportedKey): Promise<number | undefined> {
  const [found] = await query<{ id: number }>(
    `select o.${kind}_id as id from imported_object o
     where o.account_id = $1 and o.kind = $2 and o.key_hash = $3 and ${IS_LIVING[kind]}`,
    [accountId, kind, sha256(key)],
  )
  return found?.id
}

/** Runs in the transaction that makes the row. Throws AlreadyImported. */
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

/** The key of a channel: its server and its name, since that is all that a video of the archive contains. */
export const channelKey = (url: string, name: string): string => `${URL.parse(url)?.origin ?? ''} ${name}`
