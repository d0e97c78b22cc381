// Watch history: the last position in each video, stored for users who enable it, until they remove it or it expires.

import { batched } from '../../platform/batched.ts'
import type { ActorDeps } from '../runtime/index.ts'

export interface Position {
  accountId: number
  videoId: number
  /** From the start of the video. */
  seconds: number
}

/** Positions that one statement stores. */
const STORED_AT_ONCE = 1000
/** Rows that one transaction removes. */
const REMOVED_AT_ONCE = 5000

export type History = ReturnType<typeof makeHistory>

export function makeHistory({ db, tell, registry, clock, config }: ActorDeps) {
  const store = batched<Position & { at: Date }, undefined>(
    async (positions) => {
      // For concurrent reports the last position wins.
      const rows = [...new Map(positions.map((position) => [keyOf(position), position])).values()]
      await db.query(
        `with wanted as (
           select * from unnest((select $1::int[]), (select $2::int[]), (select $3::int[]), (select $4::timestamptz[])) w (account_id, video_id, seconds, at)
         ), held as materialized (
           select id from video where id in (select video_id from wanted) and state <> 'removed' order by id for key share
         )
         insert into history (account_id, video_id, seconds, watched_at)
         select w.account_id, w.video_id, w.seconds, w.at from wanted w join held on held.id = w.video_id
           join account a on a.id = w.account_id join users u on u.id = a.user_id
         where u.videos_history_enabled and not u.blocked
         order by w.account_id, w.video_id
         on conflict (account_id, video_id) do update set seconds = excluded.seconds, watched_at = excluded.watched_at
           where history.watched_at <= excluded.watched_at`,
        [
          rows.map(({ accountId }) => accountId),
          rows.map(({ videoId }) => videoId),
          rows.map(({ seconds }) => seconds),
          rows.map(({ at }) => at),
        ],
      )
      return positions.map(() => undefined)
    },
    { max: STORED_AT_ONCE },
  )

  /** Rows are locked in one order, so that concurrent viewers do not deadlock. */
  const removeBatch = async (where: string, values: readonly unknown[]): Promise<number> => {
    const removed = await tell.create((unit) =>
      unit.query(
        `with gone as (
           select account_id, video_id from history where ${where}
           order by account_id, video_id limit ${REMOVED_AT_ONCE} for update
         ) delete from history h using gone
         where h.account_id = gone.account_id and h.video_id = gone.video_id returning h.video_id`,
        values,
      ),
    )
    return removed.length
  }
  const remove = async (where: string, values: readonly unknown[]): Promise<void> => {
    while ((await removeBatch(where, values)) === REMOVED_AT_ONCE);
  }

  registry.periodic('remove-old-history', {
    everyMs: () => config().vireo.schedulers.remove_old_history,
    async run() {
      const { max_age } = config().history.videos
      if (max_age === null || max_age < 0) return
      await remove('watched_at <= $1', [new Date(clock.now().getTime() - max_age)])
    },
  })

  return {
    /** Stored when this resolves; ignored for users without a history. */
    async remember(position: Position): Promise<void> {
      await store({ ...position, at: clock.now() })
    },

    /**
     * Imports an older position from another server. A later stored position stays (`known`); `refused` for users without a history, for
     * expired positions and removed videos.
     */
    async recall({ accountId, videoId, seconds, at: watchedAt }: Position & { at: Date }): Promise<'stored' | 'known' | 'refused'> {
      const now = clock.now()
      const at = new Date(Math.min(watchedAt.getTime(), now.getTime()))
      const { max_age } = config().history.videos
      if (max_age !== null && max_age >= 0 && now.getTime() - at.getTime() >= max_age) return 'refused'
      // Other servers may round the duration of the video differently.
      const [row] = await db.query<{ outcome: 'stored' | 'known' | 'refused' }>(
        `with held as materialized (select id, duration from video where id = $2 and state <> 'removed' for key share),
         stored as (
           insert into history (account_id, video_id, seconds, watched_at)
           select a.id, held.id, case when held.duration > 0 then least($3, held.duration) else $3 end, $4
           from held, account a join users u on u.id = a.user_id
           where a.id = $1 and u.videos_history_enabled and not u.blocked
           on conflict (account_id, video_id) do update set seconds = excluded.seconds, watched_at = excluded.watched_at
             where history.watched_at < excluded.watched_at
           returning video_id
         )
         select case when exists (select from stored) then 'stored'
           when exists (select from history where account_id = $1 and video_id = $2) then 'known'
           else 'refused' end as outcome`,
        [accountId, videoId, seconds, at],
      )
      return row?.outcome ?? 'refused'
    },

    /** Removes one video; ignores a missing one. */
    forget({ accountId, videoId }: { accountId: number; videoId: number }): Promise<void> {
      return remove('account_id = $1 and video_id = $2', [accountId, videoId])
    },
    /** Removes everything that was last watched before this time, or everything. */
    async forgetAll(accountId: number, before?: Date): Promise<void> {
      if (before) await remove('account_id = $1 and watched_at < $2', [accountId, before])
      else await remove('account_id = $1', [accountId])
    },
  }
}

const keyOf = ({ accountId, videoId }: Position): string => `${accountId} ${videoId}`
