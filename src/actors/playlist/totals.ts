// How many public playlists there are: triggers of the table write what changes, and it is folded into a row for each type all
// the time.

import type { Sql } from '../../platform/database/index.ts'
import type { ActorDeps, Registry } from '../runtime/index.ts'
import { playlistPrivacies } from './playlist.entity.ts'

/** Rows that one fold takes. */
const BATCH = 1000

export function keepPlaylistTotals(
  deps: Pick<ActorDeps, 'db' | 'config'> & { registry: Pick<Registry, 'periodic'> },
): void {
  const { db, registry, config } = deps
  registry.periodic('playlist-totals', {
    everyMs: () => config().vireo.runtime.counters_interval,
    async run() {
      while ((await fold()) === BATCH);
    },
  })

  /** One process at a time. Answers how many rows were taken. */
  async function fold(): Promise<number> {
    const [row] = await db.query<{ taken: number }>(
      `with locked as materialized (
         select type from playlist_total order by type for no key update skip locked
       ), taken as (
         delete from playlist_total_delta where id in (
           select id from playlist_total_delta where type in (select type from locked) order by id limit ${BATCH}
         ) returning type, delta
       ), folded as (
         update playlist_total t set total = t.total + s.delta
         from (select type, sum(delta)::int as delta from taken group by type) s where t.type = s.type
       ) select count(*)::int as taken from taken`,
    )
    return row?.taken ?? 0
  }
}

/** Adds to the totals what they lack, of one moment: two of these at once would add it twice. */
export async function reconcilePlaylistTotals({ query }: { query: Sql }): Promise<void> {
  await query(
    `with counted as materialized (
       select type, count(*)::int as playlists from playlist where privacy = ${playlistPrivacies.public} group by 1
     ), lacking as materialized (
       select k.type, coalesce(c.playlists, 0) - k.total
         - coalesce((select sum(d.delta) from playlist_total_delta d where d.type = k.type), 0) as playlists
       from playlist_total k left join counted c on c.type = k.type
     )
     update playlist_total t set total = t.total + l.playlists from lacking l where t.type = l.type and l.playlists <> 0`,
  )
}

/** SQL for the number of public playlists; `type` (a parameter) left out: of all types. */
export function totalPlaylists(type?: string): string {
  const where = type === undefined ? '' : ` where type = ${type}`
  return `((select coalesce(sum(total), 0) from playlist_total${where})
    + (select coalesce(sum(delta), 0) from playlist_total_delta${where}))::int`
}
