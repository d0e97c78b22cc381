// Totals of public playlists by type.

import type { Database } from '../../platform/database/index.ts'
import { type ActorDeps, foldTotal, type MaintainedTotal, type Registry, setTotalRight, sumOf } from '../runtime/index.ts'
import { playlistPrivacies } from './playlist.entity.ts'

const PLAYLISTS: MaintainedTotal = { table: 'playlist_total', key: ['type'] }

export function maintainPlaylistTotals({
  db,
  registry,
  config,
}: Pick<ActorDeps, 'db' | 'config'> & { registry: Pick<Registry, 'periodic'> }): void {
  registry.periodic('playlist-totals', {
    everyMs: () => config().vireo.runtime.counters_interval,
    run: () => foldTotal(db, PLAYLISTS),
  })
}

export const reconcilePlaylistTotals = (db: Pick<Database, 'query'>): Promise<void> =>
  setTotalRight(db, PLAYLISTS, `select type, count(*)::int as rows from playlist where privacy = ${playlistPrivacies.public} group by type`)

/** SQL for the number of public playlists; `type` is a parameter, by default all types. */
export const totalPlaylists = (type?: string): string => sumOf(PLAYLISTS, type === undefined ? undefined : `type = ${type}`)
