// Actors by their row or their address.

import type { Columns, Sql } from '../../platform/database/index.ts'
import type { Actor } from './actor.entity.ts'

export interface FoundActor extends Columns<Actor, 'id' | 'url'> {
  isLocal: boolean
  /** True for a tombstone. */
  isGone: boolean
}

const finder =
  <K>(where: string) =>
  async (query: Sql, key: K): Promise<FoundActor | undefined> => {
    const columns = 'id, url, host_id is null as "isLocal", deleted_at is not null as "isGone"'
    const [actor] = await query<FoundActor>(`select ${columns} from actor where ${where}`, [key])
    return actor
  }

export const findActorById = finder<number>('id = $1')
export const findActorByUrl = finder<string>('url_hash = md5($1)::uuid and url = $1')
