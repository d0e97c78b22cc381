// Ended jobs are retained for a while, for administrators, then deleted.

import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Registry } from './registry.ts'

const ENDED = "'completed', 'failed', 'cancelled', 'errored', 'parent-errored', 'parent-cancelled'"

export function pruneJobHistory(deps: { db: Database; registry: Registry; clock: Clock; config: () => Config }): void {
  const { db, registry, clock, config } = deps
  registry.periodic('old-jobs', {
    everyMs: () => config().vireo.schedulers.remove_old_jobs,
    async run() {
      const { types, keep } = config().vireo.jobs
      const ofTypes = (pick: (type: (typeof types)[keyof typeof types]) => number) =>
        JSON.stringify(Object.fromEntries(Object.entries(types).map(([name, type]) => [name, pick(type)])))
      await db.query(
        `delete from job where id in (
           select id from job
           where state in (${ENDED}) and finished_at < $1::timestamptz - interval '1 ms' *
             case when state in ('failed', 'errored', 'parent-errored') then coalesce(($2::jsonb ->> type)::bigint, $3)
               else coalesce(($4::jsonb ->> type)::bigint, $5) end
           limit 50000)`,
        [clock.now(), ofTypes((type) => type.keep_failed), keep.failed, ofTypes((type) => type.keep_completed), keep.completed],
      )
      await db.query(
        `delete from job where id in (
           select id from (
             select id, row_number() over (partition by type order by id desc) as place from job
             where state in (${ENDED})
           ) ended where place > $1 limit 50000)`,
        [keep.max_jobs],
      )
    },
  })
}
